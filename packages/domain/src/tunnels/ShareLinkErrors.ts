/** Refusals of share links: of their owners, and of visitors who follow one. */
import { Problem } from "../values/Problem.ts"

/** Most links of one tunnel that may be active at the same time. */
export const maxShareLinks = 50

/** A share link lets visitors pass a login gate, and the tunnel has none. */
export class LoginNotRequired extends Problem<LoginNotRequired>()("LoginNotRequired", {
  status: 400,
  title: "Login not required",
  detail: () => "Anyone can visit this tunnel; switch on its login requirement to share links to it."
}) {}

/** A share link points to a host name, and the tunnel has none. */
export class TunnelWithoutHostname extends Problem<TunnelWithoutHostname>()("TunnelWithoutHostname", {
  status: 400,
  title: "Tunnel without a host name",
  detail: () => "This tunnel has no host name to share a link to."
}) {}

/** A share link lets visitors pass the login gate of the edge, which works only for edge-terminated (gelb) hosts. */
export class ShareLinkNeedsGelb extends Problem<ShareLinkNeedsGelb>()("ShareLinkNeedsGelb", {
  status: 400,
  title: "Not an edge-terminated (gelb) tunnel",
  detail: () => "The edge does not open the connections of this tunnel's visitors, so no link can let one in."
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
