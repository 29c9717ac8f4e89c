/**
 * A time-boxed link that lets a visitor past the login gate of one tunnel, and its machine. The token in the link is
 * unknown here: only its hash is kept, elsewhere.
 */
import { Result, Schema } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import { type Hostname, isWildcard } from "../values/Hostname.ts"
import { ShareLinkId, type Subject, type TunnelId } from "../values/Ids.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"
import { type Step } from "../values/Step.ts"
import { label } from "../values/Text.ts"
import {
  LoginNotRequired,
  maxShareLinks,
  ShareLinkLimitReached,
  ShareLinkNeedsGelb,
  ShareLinkNeedsHost,
  ShareLinkNotFound,
  ShareLinkRefused,
  TunnelWithoutHostname
} from "./GateErrors.ts"
import { wildcardOf } from "./HostnameOwnership.ts"

export const ShareTtl = literal(["1h", "24h", "7d"])
export type ShareTtl = typeof ShareTtl.Type

/** Seconds of the three lives that can be chosen. */
const lives: Readonly<Record<ShareTtl, number>> = { "1h": 3600, "24h": 86_400, "7d": 604_800 }

/** Characters of the label of a share link. */
export const maxShareLabel = 60

export const ShareLabel = label(maxShareLabel)

export const ShareLinkState = Schema.Literals(["active", "opened", "used", "expired", "revoked"])
export type ShareLinkState = typeof ShareLinkState.Type

/** As its owner sees it; the URL is never shown again. */
export class ShareLink extends Schema.Class<ShareLink>("ShareLink")({
  id: ShareLinkId,
  label: Schema.NullOr(ShareLabel),
  single_use: Schema.Boolean,
  created_at: UnixSeconds,
  expires_at: UnixSeconds,
  state: ShareLinkState
}) {}

/** A fresh link; the URL is in this answer only. */
export class MintedShareLink extends Schema.Class<MintedShareLink>("MintedShareLink")({
  id: ShareLinkId,
  url: Schema.String,
  expires_at: UnixSeconds
}) {}

/** A link as it is kept. `opened`: redeemed at least once. The link is dead from the second `expiresAt` on. */
export interface KeptShareLink {
  readonly id: ShareLinkId
  readonly tunnelId: TunnelId
  readonly host: string
  readonly label: string | null
  readonly singleUse: boolean
  readonly createdAt: UnixSeconds
  readonly expiresAt: UnixSeconds
  readonly opened: boolean
  readonly revoked: boolean
}

/**
 * Where a link stands at `now`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { stateOf } from "@catenet/domain/tunnels/ShareLink"
 *
 * const link = { expiresAt: 100, opened: false, revoked: false, singleUse: true }
 * assert.equal(stateOf(link, 99), "active")
 * assert.equal(stateOf(link, 100), "expired")
 * assert.equal(stateOf({ ...link, opened: true }, 99), "used")
 * ```
 */
export const stateOf = (
  { expiresAt, opened, revoked, singleUse }: Pick<KeptShareLink, "expiresAt" | "opened" | "revoked" | "singleUse">,
  now: number
): ShareLinkState => {
  if (revoked) return "revoked"
  if (singleUse && opened) return "used"
  if (now >= expiresAt) return "expired"
  return opened ? "opened" : "active"
}

const isLive = (link: KeptShareLink, now: number) => ["active", "opened"].includes(stateOf(link, now))

/** What the owner asks for. */
export interface ShareLinkRequest {
  readonly id: ShareLinkId
  readonly ttl: ShareTtl
  readonly singleUse: boolean
  readonly label: string | null
  /** The name that it leads to; needed where the tunnel has a wildcard. */
  readonly host?: Hostname | undefined
}

/** The tunnel as it is; `host` null when it has no host name. */
export interface SharedTunnel {
  readonly id: TunnelId
  readonly subject: Subject
  readonly host: Hostname | null
  /** The edge that terminates TLS for the host, or the agent that does, asks its visitors to log in. */
  readonly isAsked: boolean
  readonly loginRequired: boolean
  readonly links: ReadonlyArray<KeptShareLink>
}

/** Why no link is minted, in the order in which it is found. */
export type MintRefusal =
  LoginNotRequired | TunnelWithoutHostname | ShareLinkNeedsHost | ShareLinkNeedsGelb | ShareLinkLimitReached

/**
 * Mints a link.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { mint } from "@catenet/domain/tunnels/ShareLink"
 *
 * const tunnel = { id: "t", subject: "ada", host: "a.example", isAsked: true, loginRequired: true, links: [] }
 * const request = { id: "l", ttl: "1h", singleUse: false, label: null }
 * assert.equal(Result.getOrThrow(mint(tunnel, request, 1000)).next.expiresAt, 4600)
 * assert.ok(Result.isFailure(mint({ ...tunnel, loginRequired: false }, request, 1000)))
 * ```
 */
export const mint = (
  { host: hostname, id: tunnelId, isAsked, links, loginRequired, subject }: SharedTunnel,
  { host: asked, id, label, singleUse, ttl }: ShareLinkRequest,
  now: UnixSeconds
): Result.Result<Step<KeptShareLink, Audit>, MintRefusal> => {
  if (!loginRequired) return Result.fail(new LoginNotRequired())
  if (hostname === null) return Result.fail(new TunnelWithoutHostname())
  const host = asked ?? hostname
  const isOurs = isWildcard(hostname) ? wildcardOf(host) === hostname && host !== hostname : host === hostname
  if (!isOurs) return Result.fail(new ShareLinkNeedsHost({ hostname }))
  if (!isAsked) return Result.fail(new ShareLinkNeedsGelb())
  if (links.filter((link) => isLive(link, now)).length >= maxShareLinks) {
    return Result.fail(new ShareLinkLimitReached())
  }
  const expiresAt = UnixSeconds.make(now + lives[ttl])
  const link = { id, tunnelId, host, label, singleUse, createdAt: now, expiresAt, opened: false, revoked: false }
  const detail = JSON.stringify({ link: id, host, ttl, single_use: singleUse })
  return Result.succeed({ next: link, effects: [audit("share_link_minted", subject, tunnelId, detail)] })
}

/**
 * A visitor follows the link to `host`, in lower case. The first visit spends a single-use link; the session that the
 * visit gave lasts until the link expires.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { redeem } from "@catenet/domain/tunnels/ShareLink"
 *
 * const link = { id: "l", tunnelId: "t", host: "a.example", singleUse: true, expiresAt: 100, opened: false, revoked: false }
 * const { next } = Result.getOrThrow(redeem(link, "a.example", 99))
 * assert.ok(Result.isFailure(redeem(next, "a.example", 99)))
 * ```
 */
export const redeem = (
  link: KeptShareLink,
  host: string,
  now: number
): Result.Result<Step<KeptShareLink, Audit>, ShareLinkRefused> => {
  if (host !== link.host || !isLive(link, now)) return Result.fail(new ShareLinkRefused())
  const detail = JSON.stringify({ link: link.id, host, single_use: link.singleUse })
  return Result.succeed({
    next: { ...link, opened: true },
    effects: [audit("share_link_redeemed", `share:${link.id}`, link.tunnelId, detail)]
  })
}

/**
 * Revokes a link, whatever its state. A link that is revoked already is as unknown as one of another tunnel.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { revoke } from "@catenet/domain/tunnels/ShareLink"
 *
 * const link = { id: "l", tunnelId: "t", host: "a.example", singleUse: true, expiresAt: 100, opened: false, revoked: false }
 * const { next } = Result.getOrThrow(revoke(link, "ada"))
 * assert.equal(next.revoked, true)
 * assert.ok(Result.isFailure(revoke(next, "ada")))
 * ```
 */
export const revoke = (
  link: KeptShareLink,
  subject: Subject
): Result.Result<Step<KeptShareLink, Audit>, ShareLinkNotFound> =>
  link.revoked
    ? Result.fail(new ShareLinkNotFound())
    : Result.succeed({
        next: { ...link, revoked: true },
        effects: [audit("share_link_revoked", subject, link.tunnelId, link.id)]
      })
