/**
 * Claim invites: the owner prepares a membership, a link carries a token for it, and one signed-in person takes it up
 * within fifteen minutes. The invite is burned together with the claim, so a claim that fails does not lose it.
 */
import type { HttpServerRequest } from "effect/http"
import type { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { mostAllowedOfChannel } from "@catenet/domain/values/Caps"
import { native } from "@catenet/crypto/native"
import * as Tokens from "@catenet/crypto/Tokens"
import type { Caller } from "@catenet/domain/api/Access"
import {
  type ChannelId,
  ClaimInvite,
  claimInviteSeconds,
  MemberMaterial,
  MintedClaimInvite
} from "@catenet/domain/channels/Channel"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import {
  AttestationRefused,
  ChannelNotFound,
  ClaimInviteGone,
  ClaimInviteUnknown,
  HolderClaimedElsewhere
} from "@catenet/domain/channels/ChannelErrors"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { audit } from "@catenet/domain/values/AuditEffect"
import * as Rules from "@catenet/domain/channels/ClaimInvite"
import { ClaimInviteToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Audits } from "../identity/Audits.ts"
import * as Attestation from "./Attestation.ts"
import { Channels } from "./Channels.ts"
import * as ChannelStore from "./ChannelStore.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Claims } from "./Claims.ts"
import * as InviteStore from "./ClaimInviteStore.ts"
import { within } from "../store/Within.ts"
import * as Store from "./ClaimStore.ts"

type Account = Caller["Service"]

/** Seconds for which an invite that is over is still known as used or expired. */
const remembered = 7 * 86_400

const tokenFrom = Schema.decodeSync(ClaimInviteToken)
const isToken = Schema.is(Schema.toEncoded(ClaimInviteToken))

const hashToken = (token: Redacted.Redacted) => Tokens.hashText(native, token)

const stateOf = (invite: InviteStore.Invite): Rules.ClaimInvite => {
  if (invite.usedAt !== null) return { _tag: "Burned" }
  const { channel, expiresAt, holder, label, noiseAttestation: attestation, noisePubkey } = invite
  return { _tag: "Open", offered: { channel, holder, noisePubkey, attestation, label }, expiresAt }
}

const shown = (invite: InviteStore.Invite, now: number) =>
  new ClaimInvite({
    channel: invite.channel,
    holder: invite.holder,
    label: invite.label,
    expires_at: invite.expiresAt,
    state: invite.usedAt !== null ? "used" : now < invite.expiresAt ? "open" : "expired"
  })

const gone = ({ reason }: Rules.InviteGone) => new ClaimInviteGone({ reason })

export class ClaimInvites extends Context.Service<
  ClaimInvites,
  {
    /** Fails as unknown unless the account owns the channel; asked before a body is looked at. */
    readonly requireOwner: (account: Account, channel: ChannelId) => Effect.Effect<void, ChannelNotFound>
    readonly mint: (
      account: Account,
      channel: ChannelId,
      request: {
        readonly material: MemberMaterial
        readonly label: string | undefined
        readonly key: string | undefined
      }
    ) => Effect.Effect<MintedClaimInvite, AttestationRefused | ChannelNotFound | IdempotencyKeyReused>
    /** Invites of a channel without their tokens, the one that expires first before the others. */
    readonly list: (
      account: Account,
      channel: ChannelId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<ClaimInvite>, ChannelNotFound, HttpServerRequest.HttpServerRequest>
    /** What the invite offers. Looking claims nothing. */
    readonly show: (token: Redacted.Redacted) => Effect.Effect<ClaimInvite, ClaimInviteGone | ClaimInviteUnknown>
    /** Burns the invite, allow-lists the caller's e-mail under the owner, and lands the claim; all of it or nothing. */
    readonly confirm: (
      account: Account,
      token: Redacted.Redacted
    ) => Effect.Effect<
      { readonly channel: ChannelId },
      ClaimInviteGone | ClaimInviteUnknown | HolderClaimedElsewhere | LimitReached | VerifiedEmailRequired
    >
    /** Forgets invites that have been over for long. */
    readonly prune: Effect.Effect<void>
  }
>()("server/channels/ClaimInvites") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const invites = yield* InviteStore.make
    const channels = yield* ChannelStore.make
    const { requireOwner } = yield* Channels
    const { land, rosterFor } = yield* Claims
    const audits = yield* Audits
    const { once } = yield* Idempotency
    const { portalBaseUrl } = yield* Settings
    const random = yield* SecureRandom.SecureRandom

    const find = Effect.fnUntraced(function* (token: Redacted.Redacted) {
      const found = isToken(Redacted.value(token)) ? yield* invites.find(hashToken(token)) : Option.none()
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new ClaimInviteUnknown()
    })

    const owned = (account: Account, channel: ChannelId) =>
      Effect.catchTag(requireOwner(account, channel), "NotChannelOwner", () => new ChannelNotFound())

    const mint = Effect.fnUntraced(function* (
      account: Account,
      channel: ChannelId,
      { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey }: MemberMaterial,
      label: string | undefined
    ) {
      yield* channels.lock(channel)
      yield* owned(account, channel)
      const token = Tokens.urlText(Redacted.make(yield* random.randomBytes(32)))
      const expiresAt = UnixSeconds.make((yield* unixSeconds) + claimInviteSeconds)
      const row = { channel, holder, noisePubkey, noiseAttestation, expiresAt }
      yield* invites.insert({ ...row, tokenHash: hashToken(token), label: label ?? null })
      yield* audits.append(audit("claim_invite_minted", account.subject, channel, holder))
      return new MintedClaimInvite({
        invite: tokenFrom(Redacted.value(token)),
        url: `${portalBaseUrl.origin}/portal/claim?invite=${Redacted.value(token)}`,
        expires_at: expiresAt
      })
    })

    /** The machine allow-lists the e-mail itself, and the attestation was verified at the mint. */
    const judged = (verdict: ReturnType<typeof Rules.confirm>) => {
      if (Result.isSuccess(verdict)) return Effect.void
      switch (verdict.failure._tag) {
        case "InviteGone":
          return gone(verdict.failure)
        case "NoVerifiedEmail":
          return new VerifiedEmailRequired()
        case "HolderClaimedByOther":
          return new HolderClaimedElsewhere()
        default:
          return Effect.die(verdict.failure)
      }
    }

    return {
      requireOwner: owned,

      mint: Effect.fn("ClaimInvites.mint")(function* (
        account: Account,
        channel: ChannelId,
        request: {
          readonly material: MemberMaterial
          readonly label: string | undefined
          readonly key: string | undefined
        }
      ) {
        const { key, label, material } = request
        if (!Attestation.holds(channel, material)) return yield* new AttestationRefused()
        const repeat =
          key === undefined
            ? undefined
            : { caller: account.subject, operation: `mint-claim-invite ${channel}`, key, request: { material, label } }
        return yield* once(repeat, MintedClaimInvite, mint(account, channel, material, label))
      }, sqlOrDie),

      list: Effect.fn("ClaimInvites.list")(function* (account: Account, channel: ChannelId, page: Page) {
        yield* owned(account, channel)
        const now = yield* unixSeconds
        const found = yield* paged(
          page,
          InviteStore.Position,
          (slice) => invites.list({ channel, ...slice }),
          ({ expiresAt, tokenHash }) => ({ expiresAt, tokenHash })
        )
        return found.map((invite) => shown(invite, now))
      }, sqlOrDie),

      show: Effect.fn("ClaimInvites.show")(function* (token: Redacted.Redacted) {
        const invite = yield* find(token)
        const now = yield* unixSeconds
        yield* Effect.mapError(Effect.fromResult(Rules.show(stateOf(invite), now)), gone)
        return shown(invite, now)
      }, sqlOrDie),

      confirm: Effect.fn("ClaimInvites.confirm")(
        function* (account: Account, token: Redacted.Redacted) {
          const { channel } = yield* find(token)
          yield* channels.lock(channel)
          // Only under the lock of its channel does it stay as it is read.
          const invite = yield* find(token)
          const { holder, noiseAttestation: noise_attestation, noisePubkey: noise_pubkey, tokenHash } = invite
          const now = yield* unixSeconds
          yield* judged(Rules.confirm(stateOf(invite), yield* rosterFor(channel, account, holder), account, now))
          if (account.email !== null)
            yield* Effect.flatMap(
              store.allow(channel, account.email),
              within("addresses on the allow-list of this channel", mostAllowedOfChannel)
            )
          yield* invites.burn(tokenHash, now)
          yield* land(account, channel, new MemberMaterial({ holder, noise_pubkey, noise_attestation }))
          return { channel }
        },
        store.transaction,
        sqlOrDie
      ),

      prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(invites.forget(now - remembered))))
    }
  })

  static readonly layerNoDeps = Layer.effect(ClaimInvites, ClaimInvites.make)
  static readonly layer = ClaimInvites.layerNoDeps.pipe(
    Layer.provide([Audits.layer, Channels.layer, Claims.layer, Idempotency.layer])
  )
}
