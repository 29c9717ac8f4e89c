/** Refusals at the login gate of a tunnel. Visitors see them as pages; programs get the same facts. */
import { Schema } from "effect"
import { Hostname } from "../values/Hostname.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

/** The host has no login gate, or belongs to no tunnel. */
export class HostNotGated extends Problem<HostNotGated>()("HostNotGated", {
  status: 404,
  title: "Host not gated",
  detail: () => "This host has no login gate."
}) {}

/** The owner has not allowed this signed-in visitor. */
export class VisitorNotAllowed extends Problem<VisitorNotAllowed>()(
  "VisitorNotAllowed",
  {
    status: 403,
    title: "Not allowed",
    detail: ({ host }) => `Your account is not allowed on ${host}; its owner can add you.`
  },
  { host: Hostname }
) {}

/** The code is unknown, used, expired, for another host, or from a sign-in begun in another browser. */
export class GateCodeRefused extends Problem<GateCodeRefused>()("GateCodeRefused", {
  status: 403,
  title: "Sign-in not accepted",
  detail: () => "This sign-in was used already, is too old, or began in another browser."
}) {}

/** Login gates need a cookie domain and a client at the identity provider, and one of them is not configured. */
export class GateNotConfigured extends Problem<GateNotConfigured>()("GateNotConfigured", {
  status: 503,
  title: "Gate not configured",
  detail: () => "The login gate is not configured on this deployment."
}) {}

/** The tunnel is closed to visitors now. `opens_at` is null if no opening is scheduled. */
export class AccessWindowClosed extends Problem<AccessWindowClosed>()(
  "AccessWindowClosed",
  {
    status: 503,
    title: "Closed at the moment",
    detail: ({ retry_after }) =>
      retry_after === null ? "This site is closed; no opening is scheduled." : `This site opens in ${retry_after} s.`
  },
  { opens_at: Schema.NullOr(UnixSeconds), retry_after: Schema.NullOr(Count) }
) {}
