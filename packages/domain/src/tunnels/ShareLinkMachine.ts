/**
 * A link that lets a visitor past the login gate of one host name for a limited time. The token in the link is unknown here:
 * only its hash is kept, elsewhere.
 */
import { Option, Record, type Result } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import { refuse, step, type Step } from "../values/Step.ts"

/** `opened`: redeemed at least once. `expiresAt` is unix seconds; the link is dead from that second on. */
export interface ShareLink {
  readonly id: string
  readonly tunnel: string
  readonly host: string
  readonly label: string | null
  readonly singleUse: boolean
  readonly expiresAt: number
  readonly opened: boolean
  readonly revoked: boolean
}

/** As shown on the owner's card. */
export type ShareLinkState = "active" | "active, opened" | "used" | "expired" | "revoked"

/** Seconds of the three lives that can be chosen. */
export const shareLinkLives: Readonly<Record<string, number>> = { "1h": 3600, "24h": 86_400, "7d": 604_800 }

/** Links of one tunnel that may be active at the same time. */
export const activeLinks = 50

const labelled = /^[^\p{Cc}\p{Cs}]{1,60}$/u

/**
 * Where a link stands at `now`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { stateOf } from "@catenet/domain/tunnels/ShareLinkMachine"
 *
 * const link = { id: "l", tunnel: "t", host: "a.example", label: null, singleUse: true, expiresAt: 100, opened: false, revoked: false }
 * assert.equal(stateOf(link, 99), "active")
 * assert.equal(stateOf(link, 100), "expired")
 * assert.equal(stateOf({ ...link, opened: true }, 99), "used")
 * ```
 */
export const stateOf = ({ expiresAt, opened, revoked, singleUse }: ShareLink, now: number): ShareLinkState => {
  if (revoked) return "revoked"
  if (singleUse && opened) return "used"
  if (now >= expiresAt) return "expired"
  return opened ? "active, opened" : "active"
}

const isActive = (link: ShareLink, now: number) => stateOf(link, now).startsWith("active")

/** What the owner asks for; `ttl` is the text of the form, `label` too. */
export interface ShareLinkRequest {
  readonly id: string
  readonly ttl: string
  readonly singleUse: boolean
  readonly label: string
}

/** The tunnel as it is; `host` null when it has no host name. */
export interface SharedTunnel {
  readonly id: string
  readonly subject: string
  readonly host: string | null
  /** The edge terminates TLS for the host, and so asks its visitors to log in. */
  readonly gelb: boolean
  readonly loginRequired: boolean
  readonly links: ReadonlyArray<ShareLink>
}

/** In the order in which they are found. */
export type ShareLinkRefusal = {
  readonly _tag: "UnknownLife" | "InvalidLabel" | "LoginNotRequired" | "NoHostname" | "NotGelb" | "TooManyLinks"
}

/**
 * Mints a link. An empty label is none; a longer one than 60 characters is refused, not cut.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { mint } from "@catenet/domain/tunnels/ShareLinkMachine"
 *
 * const tunnel = { id: "t", subject: "ada", host: "a.example", gelb: true, loginRequired: true, links: [] }
 * const { next } = Result.getOrThrow(mint(tunnel, { id: "l", ttl: "1h", singleUse: false, label: "" }, 1000))
 * assert.equal(next.expiresAt, 4600)
 * assert.ok(Result.isFailure(mint(tunnel, { id: "l", ttl: "2h", singleUse: false, label: "" }, 1000)))
 * ```
 */
export const mint = (
  tunnel: SharedTunnel,
  { id, label, singleUse, ttl }: ShareLinkRequest,
  now: number
): Result.Result<Step<ShareLink, Audit>, ShareLinkRefusal> => {
  const seconds = Option.getOrUndefined(Record.get(shareLinkLives, ttl))
  if (seconds === undefined) return refuse({ _tag: "UnknownLife" })
  const text = label.trim()
  if (text !== "" && !labelled.test(text)) return refuse({ _tag: "InvalidLabel" })
  if (!tunnel.loginRequired) return refuse({ _tag: "LoginNotRequired" })
  const { host } = tunnel
  if (host === null) return refuse({ _tag: "NoHostname" })
  if (!tunnel.gelb) return refuse({ _tag: "NotGelb" })
  if (tunnel.links.filter((link) => isActive(link, now)).length >= activeLinks) return refuse({ _tag: "TooManyLinks" })
  const link: ShareLink = {
    id,
    tunnel: tunnel.id,
    host,
    label: text === "" ? null : text,
    singleUse,
    expiresAt: now + seconds,
    opened: false,
    revoked: false
  }
  const detail = JSON.stringify({ link: id, host, ttl, single_use: singleUse })
  return step(link, audit("share_link_minted", tunnel.subject, tunnel.id, detail))
}

/** `GrantSession` gives the visitor a session for the link's host until the link expires. */
export type ShareLinkEffect =
  | { readonly _tag: "GrantSession"; readonly identity: string; readonly host: string; readonly expiresAt: number }
  | Audit

/** Why a visitor is turned away. */
export interface ShareLinkDead {
  readonly _tag: "ShareLinkDead"
  readonly reason: "wrong host" | "used" | "expired" | "revoked"
}

/**
 * A visitor follows the link to `host`, in lower case. A single-use link is spent by the first visit; the session it gave
 * goes on.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { redeem } from "@catenet/domain/tunnels/ShareLinkMachine"
 *
 * const link = { id: "l", tunnel: "t", host: "a.example", label: null, singleUse: true, expiresAt: 100, opened: false, revoked: false }
 * const { next } = Result.getOrThrow(redeem(link, "a.example", 99))
 * assert.deepEqual(Result.flip(redeem(next, "a.example", 99)), Result.succeed({ _tag: "ShareLinkDead", reason: "used" }))
 * ```
 */
export const redeem = (
  link: ShareLink,
  host: string,
  now: number
): Result.Result<Step<ShareLink, ShareLinkEffect>, ShareLinkDead> => {
  if (host !== link.host) return refuse({ _tag: "ShareLinkDead", reason: "wrong host" })
  const state = stateOf(link, now)
  if (state === "used" || state === "expired" || state === "revoked")
    return refuse({ _tag: "ShareLinkDead", reason: state })
  const identity = `share:${link.id}`
  const detail = JSON.stringify({ link: link.id, host, single_use: link.singleUse })
  return step<ShareLink, ShareLinkEffect>(
    { ...link, opened: true },
    { _tag: "GrantSession", identity, host, expiresAt: link.expiresAt },
    audit("share_link_redeemed", identity, link.tunnel, detail)
  )
}

/**
 * Revokes a link, whatever its state; the second time nothing happens.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { revoke } from "@catenet/domain/tunnels/ShareLinkMachine"
 *
 * const link = { id: "l", tunnel: "t", host: "a.example", label: null, singleUse: true, expiresAt: 100, opened: false, revoked: false }
 * assert.equal(revoke(link, "ada").next.revoked, true)
 * assert.deepEqual(revoke(revoke(link, "ada").next, "ada").effects, [])
 * ```
 */
export const revoke = (link: ShareLink, subject: string): Step<ShareLink, Audit> =>
  link.revoked
    ? { next: link, effects: [] }
    : { next: { ...link, revoked: true }, effects: [audit("share_link_revoked", subject, link.tunnel, link.id)] }

/**
 * Whether a session that the link gave still holds, asked at every request: being used up does not end it, being revoked does.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { sessionHolds } from "@catenet/domain/tunnels/ShareLinkMachine"
 *
 * const link = { id: "l", tunnel: "t", host: "a.example", label: null, singleUse: true, expiresAt: 100, opened: true, revoked: false }
 * assert.deepEqual([99, 100].map((now) => sessionHolds(link, now)), [true, false])
 * assert.equal(sessionHolds({ ...link, revoked: true }, 99), false)
 * ```
 */
export const sessionHolds = (link: ShareLink, now: number): boolean => !link.revoked && now < link.expiresAt

/**
 * The path to which a visitor is sent on the link's host. What a browser could read as another host becomes `/`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { returnPath } from "@catenet/domain/tunnels/ShareLinkMachine"
 *
 * assert.deepEqual(["/a?b=c", "//evil.example", "/\\evil.example", "a", undefined].map(returnPath), ["/a?b=c", "/", "/", "/", "/"])
 * ```
 */
export const returnPath = (text: string | undefined): string =>
  text !== undefined && /^\/(?![/\\])[^\p{Cc}\p{Cs}]*$/u.test(text) ? text : "/"
