/**
 * Links that let a visitor past the login gate of one host for a while. The token is shown once, in the link; what is
 * kept is its hash. A link is redeemed and revoked under its row's lock, so a single-use link has one user.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import type { Caller } from "@catenet/domain/api/Access"
import { HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { ShareLinkNotFound, ShareLinkRefused } from "@catenet/domain/tunnels/GateErrors"
import {
  type KeptShareLink,
  mint,
  MintedShareLink,
  type MintRefusal,
  redeem,
  revoke,
  ShareLabel,
  ShareLink,
  type ShareTtl,
  stateOf
} from "@catenet/domain/tunnels/ShareLink"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { type Hostname, TunnelHostname } from "@catenet/domain/values/Hostname"
import { ShareLinkId, TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxEndedLinksPerTunnel } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { Idempotency } from "../http/Idempotency.ts"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { freshHex32 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { GateSessions } from "./GateSessions.ts"
import { leadingTo } from "./GateStore.ts"
import { LoginOrders } from "./LoginOrders.ts"

/** The table of share links. The token of a link is known by its hash only. */
const Link = Schema.Struct({
  id: ShareLinkId,
  tunnelId: TunnelId,
  host: Schema.String,
  label: Schema.NullOr(ShareLabel),
  singleUse: Schema.Boolean,
  createdAt: UnixSeconds,
  expiresAt: UnixSeconds,
  opened: Schema.Boolean,
  revoked: Schema.Boolean
})

const PageStart = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })

/** A tunnel as far as sharing it is concerned. */
const Shared = Schema.Struct({
  host: Schema.NullOr(TunnelHostname),
  loginRequired: Schema.Boolean,
  isAsked: Schema.Boolean
})

const makeShareLinkStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const link = sql`select id, tunnel_id, host, label, single_use, created_at, expires_at, opened, revoked from share_links`
  return {
    /** A tunnel of the account; with `lock`, its links are minted one after the other. */
    tunnel: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Shared,
      execute: ({ id, lock, subject }) => sql`
        select t.hostname as host, t.require_login as login_required, exists (select 1 from hosts h
          where h.hostname = t.hostname and h.routing_token = t.routing_token and (h.status = 'gelb' or h.status = 'gruen'
            and exists (select 1 from tunnel_policies p where p.tunnel_id = t.id and p.enforced))) as is_asked
        from tunnels t where t.id = ${id} and t.subject = ${subject} ${lock ? sql`for update` : sql``}`
    }),
    /** Whether visitors of a host have to log in. */
    isGated: (host: string) =>
      sql`select 1 from tunnels where routing_token = ${leadingTo(sql)(host)} and require_login`,
    insert: (row: KeptShareLink & { readonly tokenHash: string }) =>
      sql`insert into share_links ${sql.insert({ ...row })}`,
    /** Forgets the oldest links of a tunnel that were revoked or have expired, if there are more than are kept. */
    forgetEnded: (tunnelId: string, now: number) => sql`
      delete from share_links where id in (select id from share_links
        where tunnel_id = ${tunnelId} and (revoked or expires_at <= ${now})
        order by created_at desc, id desc offset ${maxEndedLinksPerTunnel})`,
    /** Links of a tunnel that have not expired. */
    living: SqlSchema.findAll({
      Request: Schema.Struct({ tunnelId: Schema.String, now: Schema.Int }),
      Result: Link,
      execute: ({ now, tunnelId }) => sql`${link} where tunnel_id = ${tunnelId} and expires_at > ${now}`
    }),
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        tunnelId: Schema.String,
        after: Schema.UndefinedOr(PageStart),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Link,
      execute: ({ after, limit, tunnelId }) => sql`${link} where tunnel_id = ${tunnelId}
        ${after === undefined ? sql`` : sql`and (created_at, id) < (${after.createdAt}, ${after.id})`}
        order by created_at desc, id desc ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    /** The link of a token; no other transaction redeems or revokes it before this one ends. */
    lockByToken: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Link,
      execute: (tokenHash) => sql`${link} where token_hash = ${tokenHash} for update`
    }),
    lock: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, tunnelId: Schema.String }),
      Result: Link,
      execute: ({ id, tunnelId }) => sql`${link} where id = ${id} and tunnel_id = ${tunnelId} for update`
    }),
    save: ({ id, opened, revoked }: KeptShareLink) =>
      sql`update share_links set ${sql.update({ opened, revoked })} where id = ${id}`,
    /** Links that ended long ago go, and the sessions they gave with them. */
    prune: (before: number) => sql`delete from share_links where expires_at < ${before}`,
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

const After = Schema.Struct({ createdAt: Schema.Int, id: ShareLinkId })
/** Seconds for which an expired link is still listed: thirty days. */
const listedFor = 30 * 86_400
const longestToken = 128

const shown = (link: KeptShareLink & Pick<ShareLink, "label">, now: number) =>
  new ShareLink({
    id: link.id,
    label: link.label,
    single_use: link.singleUse,
    created_at: link.createdAt,
    expires_at: link.expiresAt,
    state: stateOf(link, now)
  })

export interface ShareRequest {
  readonly ttl: ShareTtl
  readonly single_use?: boolean
  readonly label?: string
  readonly host?: Hostname
}

const dependencies = Effect.gen(function* () {
  const store = yield* makeShareLinkStore
  const audits = yield* Audits
  const sessions = yield* GateSessions
  const orders = yield* LoginOrders
  const { once } = yield* Idempotency
  const { portalBaseUrl } = yield* Settings
  const random = yield* SecureRandom.SecureRandom
  return { audits, once, orders, portalBaseUrl, random, sessions, store }
})
type State = Effect.Success<typeof dependencies>

const owned = Effect.fnUntraced(function* ({ store }: State, { subject }: Account, id: string, lock: boolean) {
  const found = yield* store.tunnel({ id, subject, lock })
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new TunnelNotFound()
})

const urlOf = ({ portalBaseUrl }: State, host: string, token: Redacted.Redacted) => {
  const url = new URL("/gate/share", portalBaseUrl)
  url.searchParams.set("host", host)
  url.searchParams.set("token", Redacted.value(token))
  return url.href
}

const minted = Effect.fnUntraced(function* (
  state: State,
  account: Account,
  tunnelId: TunnelId,
  { host: asked, label, single_use: singleUse = false, ttl }: ShareRequest
) {
  const { host, isAsked, loginRequired } = yield* owned(state, account, tunnelId, true)
  const now = yield* unixSeconds
  const links = yield* state.store.living({ tunnelId, now })
  const id = ShareLinkId.make(yield* Effect.provideService(freshHex32, SecureRandom.SecureRandom, state.random))
  const tunnel = { id: tunnelId, subject: account.subject, host, isAsked, loginRequired, links }
  const { effects, next } = yield* Effect.fromResult(
    mint(tunnel, { id, ttl, singleUse, label: label ?? null, host: asked }, now)
  )
  const token = TokenEncoding.urlText(Redacted.make(yield* state.random.randomBytes(32)))
  yield* state.store.forgetEnded(tunnelId, now)
  yield* state.store.insert({ ...next, tokenHash: TokenEncoding.hashText(native, token) })
  yield* Effect.forEach(effects, state.audits.append, { discard: true })
  return new MintedShareLink({ id, url: urlOf(state, next.host, token), expires_at: next.expiresAt })
})

const list = Effect.fn("ShareLinks.list")(function* (state: State, account: Account, tunnelId: TunnelId, page: Page) {
  yield* owned(state, account, tunnelId, false)
  const now = yield* unixSeconds
  const found = yield* paged(
    page,
    After,
    (slice) => state.store.list({ tunnelId, ...slice }),
    ({ createdAt, id }) => ({ createdAt, id })
  )
  return found.map((link) => shown(link, now))
}, sqlOrDie)

export class ShareLinks extends Context.Service<
  ShareLinks,
  {
    /** Mints a link; its address is in this answer only. */
    readonly mint: (
      account: Account,
      tunnelId: TunnelId,
      request: ShareRequest,
      key: string | undefined
    ) => Effect.Effect<MintedShareLink, IdempotencyKeyReused | TunnelNotFound | MintRefusal>
    /** Newest first. */
    readonly list: (
      account: Account,
      tunnelId: TunnelId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<ShareLink>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    /** Ends a link and the sessions that it gave. */
    readonly revoke: (
      account: Account,
      tunnelId: TunnelId,
      id: string
    ) => Effect.Effect<void, ShareLinkNotFound | TunnelNotFound>
    /**
     * A visitor follows a link to `host`, in lower case. Answers what the cookie is to hold, and until when; nothing where
     * the link would be used up by that and the visitor does not mean to spend it, for which nothing is written.
     */
    readonly redeem: (
      host: string,
      token: Redacted.Redacted,
      spends: boolean
    ) => Effect.Effect<
      | Option.None<{ readonly session: Redacted.Redacted; readonly seconds: number }>
      | Option.Some<{ readonly session: Redacted.Redacted; readonly seconds: number }>,
      HostNotGated | ShareLinkRefused
    >
    /** Removes links that ended a month ago. */
    readonly prune: Effect.Effect<void>
  }
>()("server/tunnels/ShareLinks") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { list }),
    mint: Effect.fn("ShareLinks.mint")(
      (account: Account, tunnelId: TunnelId, request: ShareRequest, key: string | undefined) =>
        state.once(
          { caller: account.subject, operation: `mint-share-link ${tunnelId}`, key, request },
          MintedShareLink,
          minted(state, account, tunnelId, request)
        ),
      sqlOrDie
    ),
    revoke: Effect.fn("ShareLinks.revoke")(
      function* (account: Account, tunnelId: TunnelId, id: string) {
        yield* owned(state, account, tunnelId, false)
        const found = yield* state.store.lock({ id, tunnelId })
        if (Option.isNone(found)) return yield* new ShareLinkNotFound()
        const { effects, next } = yield* Effect.fromResult(revoke(found.value, account.subject))
        yield* state.store.save(next)
        yield* state.orders.tunnelChanged(tunnelId)
        yield* Effect.forEach(effects, state.audits.append, { discard: true })
      },
      state.store.transaction,
      sqlOrDie
    ),
    redeem: Effect.fn("ShareLinks.redeem")(
      function* (host: string, token: Redacted.Redacted, spends: boolean) {
        if ((yield* state.store.isGated(host)).length === 0) return yield* new HostNotGated()
        const { length } = Redacted.value(token)
        const found =
          length === 0 || length > longestToken
            ? Option.none()
            : yield* state.store.lockByToken(TokenEncoding.hashText(native, token))
        if (Option.isNone(found)) return yield* new ShareLinkRefused()
        const now = yield* unixSeconds
        const { effects, next } = yield* Effect.fromResult(redeem(found.value, host, now))
        if (next.singleUse && !spends) return Option.none()
        yield* state.store.save(next)
        yield* Effect.forEach(effects, state.audits.append, { discard: true })
        const session = yield* state.sessions.openShared(next.id, host, next.expiresAt)
        return Option.some({ session, seconds: next.expiresAt - now })
      },
      state.store.transaction,
      sqlOrDie
    ),
    prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(state.store.prune(now - listedFor))))
  }))

  static readonly layerNoDeps = Layer.effect(ShareLinks, ShareLinks.make)
  static readonly layer = ShareLinks.layerNoDeps.pipe(
    Layer.provide([Audits.layer, GateSessions.layer, Idempotency.layer, LoginOrders.layer])
  )
}
