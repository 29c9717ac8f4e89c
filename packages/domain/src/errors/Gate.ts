/** Refusals at the login gate of a tunnel. Visitors see them as pages; programs get the same facts. */
import { Schema } from "effect"
import { Hostname } from "../Hostname.ts"
import { Count, UnixSeconds } from "../Numbers.ts"
import { Problem } from "../Problem.ts"

/** The host has no login gate, or nobody has the host. */
export class HostNotGated extends Problem<HostNotGated>()("HostNotGated", {
  status: 404,
  title: "Host not gated",
  detail: () => "This host has no login gate."
}) {}

/** The link is unknown, expired, used, revoked, or made for another host. */
export class ShareLinkRefused extends Problem<ShareLinkRefused>()("ShareLinkRefused", {
  status: 403,
  title: "Share link refused",
  detail: () => "This link is not valid: it has expired, was used or revoked, or belongs to another host."
}) {}

/** A signed-in visitor whom the owner has not allowed. */
export class VisitorNotAllowed extends Problem<VisitorNotAllowed>()(
  "VisitorNotAllowed",
  {
    status: 403,
    title: "Not allowed",
    detail: ({ host }) => `Your account is not allowed on ${host}; its owner can add you.`
  },
  { host: Hostname }
) {}

/** The answer of the identity provider is not for a sign-in that this browser began, or it was used or is too late. */
export class SignInRefused extends Problem<SignInRefused>()("SignInRefused", {
  status: 403,
  title: "Sign-in refused",
  detail: () => "This sign-in was not begun in this browser, or it is over."
}) {}

/** The identity provider did not say who it is that signed in. */
export class SignInFailed extends Problem<SignInFailed>()("SignInFailed", {
  status: 502,
  title: "Sign-in failed",
  detail: () => "The identity provider did not complete the sign-in."
}) {}

/** The gate needs a cookie domain, and for signing in a client at the identity provider; one of them is not configured. */
export class GateNotConfigured extends Problem<GateNotConfigured>()("GateNotConfigured", {
  status: 503,
  title: "Gate not configured",
  detail: () => "The login gate is not configured on this deployment."
}) {}

/** The tunnel may not be visited now. `opens_at` is null when no opening is scheduled. */
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
