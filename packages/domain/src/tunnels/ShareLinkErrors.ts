/** Refusals of share links: of their owners, and of visitors who follow one. */
import { Problem } from "../values/Problem.ts"

/** Most links of one tunnel that may be active at the same time. */
export const maxShareLinks = 50

/** A share link lets visitors past a login gate, and the tunnel has none. */
export class LoginNotRequired extends Problem<LoginNotRequired>()("LoginNotRequired", {
  status: 400,
  title: "Login not required",
  detail: () => "Anyone can visit this tunnel; switch on its login requirement to share links to it."
}) {}

/** A share link names a host, and the tunnel has none. */
export class TunnelWithoutHostname extends Problem<TunnelWithoutHostname>()("TunnelWithoutHostname", {
  status: 400,
  title: "Tunnel without a host name",
  detail: () => "This tunnel has no host name to share a link to."
}) {}

/** A share link lets visitors past the gate of the edge, which sees requests of gelb hosts only. */
export class ShareLinkNeedsGelb extends Problem<ShareLinkNeedsGelb>()("ShareLinkNeedsGelb", {
  status: 400,
  title: "Not a gelb tunnel",
  detail: () => "The edge does not open the connections of this tunnel's visitors, so no link can let one in."
}) {}

/** The tunnel has as many active share links as it may have. */
export class ShareLinkLimitReached extends Problem<ShareLinkLimitReached>()("ShareLinkLimitReached", {
  status: 400,
  title: "Share link limit reached",
  detail: () => `This tunnel has ${maxShareLinks} active share links; revoke one first.`
}) {}

/** Unknown, of another tunnel, or revoked already. */
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
