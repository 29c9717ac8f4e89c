/** Refusals at the login gate of a tunnel. Visitors see them as pages; programs get the same facts. */
import { Schema } from "effect"
import { baseOf, Hostname, isWildcard, TunnelHostname } from "../values/Hostname.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

// Refusals of share links: of their owners, and of visitors who follow one.

/** Most links of one tunnel that may be active at the same time. */
export const maxShareLinks = 50

/** A share link lets visitors pass a login gate, and the tunnel has none. */
export class LoginNotRequired extends Problem<LoginNotRequired>()("LoginNotRequired", {
  status: 400,
  title: "Login not required",
  detail: () => "Anyone can visit this tunnel; require a login before you make share links."
}) {}

/** A share link points to a host name, and the tunnel has none. */
export class TunnelWithoutHostname extends Problem<TunnelWithoutHostname>()("TunnelWithoutHostname", {
  status: 400,
  title: "Tunnel without a host name",
  detail: () => "This tunnel has no host name to share a link to."
}) {}

/** A share link leads to one name, and the tunnel has a wildcard, or another name than the one that was asked for. */
export class ShareLinkNeedsHost extends Problem<ShareLinkNeedsHost>()(
  "ShareLinkNeedsHost",
  {
    status: 400,
    title: "Host name of the link",
    detail: ({ hostname }) =>
      isWildcard(hostname)
        ? `Say in host to which name the link leads: one label below ${baseOf(hostname)}.`
        : `A link of this tunnel leads to ${hostname}.`
  },
  { hostname: TunnelHostname }
) {}

/** A share link lets visitors pass a login gate, which nobody enforces at this host: not the edge, and no agent. */
export class ShareLinkNeedsGelb extends Problem<ShareLinkNeedsGelb>()("ShareLinkNeedsGelb", {
  status: 400,
  title: "Nobody asks visitors to log in",
  detail: () =>
    "This name is end-to-end (gruen), and no agent of the tunnel asks visitors to log in, so no link can let one in. " +
    "Run the newest agent with CT_AGENT_ORIGIN_TLS=terminate."
}) {}

/** The tunnel has reached its limit of active share links. */
export class ShareLinkLimitReached extends Problem<ShareLinkLimitReached>()("ShareLinkLimitReached", {
  status: 400,
  title: "Share link limit reached",
  detail: () => `This tunnel has ${maxShareLinks} active share links; revoke one first.`
}) {}

/** The share link does not exist, belongs to another tunnel or is already revoked. */
export class ShareLinkNotFound extends Problem<ShareLinkNotFound>()("ShareLinkNotFound", {
  status: 404,
  title: "Share link not found",
  detail: () => "This tunnel has no such share link to revoke."
}) {}

/** The link is unknown, expired, used, revoked, or made for another host. */
export class ShareLinkRefused extends Problem<ShareLinkRefused>()("ShareLinkRefused", {
  status: 403,
  title: "Share link refused",
  detail: () => "This link is not valid: it has expired, was used or revoked, or belongs to another host."
}) {}

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
  detail: () => "This sign-in was already used, has expired, or was started in another browser."
}) {}

/**
 * The access token of a program is not accepted at a host of the tunnel: `token` where it is not valid or made for another resource,
 * `account` where its account may not visit the tunnel.
 */
export class CallerRefused extends Problem<CallerRefused>()(
  "CallerRefused",
  {
    status: 403,
    title: "Caller refused",
    detail: ({ reason }) =>
      reason === "token"
        ? "The access token is not valid, has expired, or is made for another resource."
        : "The account of this access token may not visit the tunnel; its owner can add it."
  },
  { reason: Schema.Literals(["token", "account"]) }
) {}

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
