/**
 * Claim invites: the owner prepares a membership, a link carries a token for it, and one signed-in person claims it
 * within fifteen minutes. The invite is used up together with the claim, so a claim that fails does not lose it.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId, type MemberMaterial } from "@catenet/domain/channels/Channel"
import {
  type AttestationRefused,
  type ChannelNotFound,
  type ClaimInviteGone,
  ClaimInviteUnknown,
  type HolderClaimedElsewhere
} from "@catenet/domain/channels/ChannelErrors"
import {
  type ClaimInvite,
  confirm,
  mint,
  MintedClaimInvite,
  show,
  type StoredClaimInvite,
  view
} from "@catenet/domain/channels/ClaimInvite"
import type { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import type { Audit } from "@catenet/domain/values/AuditEffect"
import { HolderKey, NoiseAttestation, NoiseKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxEndedInvitesPerChannel, maxOpenInvitesPerChannel } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import type { Step } from "@catenet/domain/values/Step"
import { ClaimInviteToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { Idempotency } from "../http/Idempotency.ts"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import * as AttestationCheck from "./AttestationCheck.ts"
import { Channels, hideForeign } from "./Channels.ts"
import { ChannelStore } from "./ChannelStore.ts"
import { Claims } from "./Claims.ts"
import { ClaimStore } from "./ClaimStore.ts"

/** The table of claim invites. A token is stored as its hash. */
const Invite = Schema.Struct({
  tokenHash: Schema.String,
  channel: ChannelId,
  holder: HolderKey,
  noisePubkey: NoiseKey,
  noiseAttestation: NoiseAttestation,
  label: Schema.NullOr(Schema.String),
  expiresAt: UnixSeconds,
  usedAt: Schema.NullOr(UnixSeconds)
})
type Invite = typeof Invite.Type

/** The position of an invite in the list of its channel. */
const Position = Schema.Struct({ expiresAt: Schema.Int, tokenHash: Schema.String })

const makeClaimInviteStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const invite = sql`select token_hash, channel, holder, noise_pubkey, noise_attestation, label, expires_at, used_at
    from claim_invites`
  return {
    /** A row, where the channel has room for an open invite. The caller holds the channel. */
    insert: (row: Invite, now: number) => sql`
      with room as (select count(*) < ${maxOpenInvitesPerChannel} as left_over from claim_invites
        where channel = ${row.channel} and used_at is null and expires_at > ${now})
      insert into claim_invites (token_hash, channel, holder, noise_pubkey, noise_attestation, label, expires_at, used_at)
        select ${row.tokenHash}, ${row.channel}, ${row.holder}, ${row.noisePubkey}, ${row.noiseAttestation}, ${row.label},
          ${row.expiresAt}::bigint, ${row.usedAt}::bigint from room where left_over
        returning 1`,
    /** Forgets the oldest invites of a channel that were used or have expired, if there are more than are kept. */
    forgetEnded: (channel: ChannelId, now: number) => sql`
      delete from claim_invites where token_hash in (select token_hash from claim_invites
        where channel = ${channel} and (used_at is not null or expires_at <= ${now})
        order by expires_at desc, token_hash desc offset ${maxEndedInvitesPerChannel})`,
    find: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Invite,
      execute: (tokenHash) => sql`${invite} where token_hash = ${tokenHash}`
    }),
    use: (tokenHash: string, now: number) =>
      sql`update claim_invites set used_at = ${now} where token_hash = ${tokenHash}`,
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        channel: ChannelId,
        after: Schema.UndefinedOr(Position),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Invite,
      execute: ({ after, channel, limit }) => sql`${invite} where channel = ${channel}
        ${after === undefined ? sql`` : sql`and (expires_at, token_hash) > (${after.expiresAt}, ${after.tokenHash})`}
        order by expires_at, token_hash ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    prune: (before: number) => sql`delete from claim_invites where expires_at < ${before}`
  }
})

type Account = Caller["Service"]

/** Seconds for which an expired invite is still known as used or expired: a week. */
const rememberedSeconds = 7 * 86_400

const tokenFrom = Schema.decodeSync(ClaimInviteToken)
const isToken = Schema.is(Schema.toEncoded(ClaimInviteToken))

const hashToken = (token: Redacted.Redacted) => TokenEncoding.hashText(native, token)

/** `key` is the idempotency key of the request. */
export interface MintRequest {
  readonly material: MemberMaterial
  readonly label: string | undefined
  readonly key: string | undefined
}

const dependencies = Effect.gen(function* () {
  const store = yield* ClaimStore
  const invites = yield* makeClaimInviteStore
  const channels = yield* ChannelStore
  const { requireOwner } = yield* Channels
  const claims = yield* Claims
  const audits = yield* Audits
  const { once } = yield* Idempotency
  const { portalBaseUrl } = yield* Settings
  const random = yield* SecureRandom.SecureRandom
  return { audits, channels, claims, invites, once, portalBaseUrl, random, requireOwner, store }
})
type State = Effect.Success<typeof dependencies>

const find = Effect.fnUntraced(function* ({ invites }: State, token: Redacted.Redacted) {
  const found = isToken(Redacted.value(token)) ? yield* invites.find(hashToken(token)) : Option.none()
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new ClaimInviteUnknown()
})

const insert = Effect.fnUntraced(function* (
  { audits, channels, invites, portalBaseUrl, random, requireOwner }: State,
  account: Account,
  { effects, next }: Step<StoredClaimInvite, Audit>
) {
  const { channel, expiresAt } = next
  yield* channels.lock(channel)
  yield* hideForeign(requireOwner(account, channel))
  const token = TokenEncoding.urlText(Redacted.make(yield* random.randomBytes(32)))
  const now = yield* unixSeconds
  yield* invites.forgetEnded(channel, now)
  const inserted = yield* invites.insert({ ...next, tokenHash: hashToken(token) }, now)
  yield* insertWithinQuota("open claim invites of this channel", maxOpenInvitesPerChannel)(inserted)
  yield* Effect.forEach(effects, audits.append, { discard: true })
  return new MintedClaimInvite({
    invite: tokenFrom(Redacted.value(token)),
    url: `${portalBaseUrl.origin}/portal/claim?invite=${Redacted.value(token)}`,
    expires_at: expiresAt
  })
})

const list = Effect.fn("ClaimInvites.list")(function* (
  { invites, requireOwner }: State,
  account: Account,
  channel: ChannelId,
  page: Page
) {
  yield* hideForeign(requireOwner(account, channel))
  const now = yield* unixSeconds
  const found = yield* paged(
    page,
    Position,
    (slice) => invites.list({ channel, ...slice }),
    ({ expiresAt, tokenHash }) => ({ expiresAt, tokenHash })
  )
  return found.map((invite) => view(invite, now))
}, sqlOrDie)

export class ClaimInvites extends Context.Service<
  ClaimInvites,
  {
    readonly mint: (
      account: Account,
      channel: ChannelId,
      request: MintRequest
    ) => Effect.Effect<MintedClaimInvite, AttestationRefused | ChannelNotFound | IdempotencyKeyReused | LimitReached>
    /** Invites of a channel without their tokens, sorted by their expiry. */
    readonly list: (
      account: Account,
      channel: ChannelId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<ClaimInvite>, ChannelNotFound, HttpServerRequest.HttpServerRequest>
    /** What the invite offers; nothing is written. */
    readonly show: (token: Redacted.Redacted) => Effect.Effect<ClaimInvite, ClaimInviteGone | ClaimInviteUnknown>
    /** Uses the invite up, allow-lists the caller's e-mail under the owner, and writes the claim: all of it or nothing. */
    readonly confirm: (
      account: Account,
      token: Redacted.Redacted
    ) => Effect.Effect<
      { readonly channel: ChannelId },
      ClaimInviteGone | ClaimInviteUnknown | HolderClaimedElsewhere | LimitReached | VerifiedEmailRequired
    >
    /** Removes invites that expired a week ago. */
    readonly prune: Effect.Effect<void>
  }
>()("server/channels/ClaimInvites") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { list }),
    mint: Effect.fn("ClaimInvites.mint")(function* (account: Account, channel: ChannelId, request: MintRequest) {
      const { key, label, material } = request
      const attestationValid = AttestationCheck.holds(channel, material)
      const asked = { material, attestationValid, label: label ?? null }
      const minted = yield* Effect.fromResult(mint(channel, account.subject, asked, yield* unixSeconds))
      const repeat = {
        caller: account.subject,
        operation: `mint-claim-invite ${channel}`,
        key,
        request: { material, label }
      }
      return yield* state.once(repeat, MintedClaimInvite, insert(state, account, minted))
    }, sqlOrDie),
    show: Effect.fn("ClaimInvites.show")(function* (token: Redacted.Redacted) {
      const invite = yield* find(state, token)
      return yield* Effect.fromResult(show(invite, yield* unixSeconds))
    }, sqlOrDie),
    confirm: Effect.fn("ClaimInvites.confirm")(function* (account: Account, token: Redacted.Redacted) {
      const { channel } = yield* find(state, token)
      yield* state.channels.lock(channel)
      // The invite is read again, since only the lock of its channel keeps it as it is read.
      const invite = yield* find(state, token)
      const claimedBy = yield* state.store.claimedBy(invite)
      const confirmed = confirm(invite, claimedBy, account, yield* unixSeconds)
      const { claim, email, invite: used } = yield* Effect.fromResult(confirmed)
      yield* state.store.allow(channel, email)
      yield* state.invites.use(invite.tokenHash, used.usedAt)
      yield* state.claims.put(channel, claim)
      return { channel }
    }, inTransactionOf(state.store)),
    prune: Effect.flatMap(unixSeconds, (now) =>
      Effect.asVoid(Effect.orDie(state.invites.prune(now - rememberedSeconds)))
    )
  }))

  static readonly layer = Layer.effect(ClaimInvites, ClaimInvites.make).pipe(
    Layer.provide([Audits.layer, Channels.layer, ChannelStore.layer, Claims.layer, ClaimStore.layer, Idempotency.layer])
  )
}
