/**
 * Claim invites: the owner prepares a membership, a link carries a token for it, and one signed-in person takes it up
 * within fifteen minutes. The invite is burned together with the claim, so a claim that fails does not lose it.
 */
import { native } from "@catenet/crypto/native"
import * as Tokens from "@catenet/crypto/Tokens"
import type { Caller } from "@catenet/domain/api/Access"
import {
  type ChannelId,
  ClaimInvite,
  claimInviteSeconds,
  MemberMaterial,
  MintedClaimInvite
} from "@catenet/domain/Channel"
import {
  AttestationRefused,
  ChannelNotFound,
  ClaimInviteGone,
  ClaimInviteUnknown,
  HolderClaimedElsewhere
} from "@catenet/domain/errors/Channels"
import { VerifiedEmailRequired } from "@catenet/domain/errors/Authentication"
import { UnixSeconds } from "@catenet/domain/Numbers"
import type { ClaimRefusal } from "@catenet/domain/rules/ClaimByAllowList"
import * as Rules from "@catenet/domain/rules/ClaimInvite"
import { ClaimInviteToken } from "@catenet/domain/Tokens"
import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { paged, type Page } from "../http/Paging.ts"
import { Idempotency } from "../idempotency/Idempotency.ts"
import { unixSeconds } from "../Now.ts"
import { Settings } from "../Settings.ts"
import { asDefects } from "../store/Defects.ts"
import * as Attestation from "./Attestation.ts"
import { Channels } from "./Channels.ts"
import { Claims } from "./Claims.ts"
import * as ClaimStore from "./ClaimStore.ts"
import * as Store from "./Store.ts"

type Account = Caller["Service"]

const tokenFrom = Schema.decodeSync(ClaimInviteToken)
const isToken = Schema.is(Schema.toEncoded(ClaimInviteToken))

const hashOf = (token: Redacted.Redacted) => Tokens.hashText(native, token)

const stateOf = (invite: ClaimStore.Invite): Rules.ClaimInvite => {
  if (invite.usedAt !== null) return { _tag: "Burned" }
  const { channel, expiresAt, holder, label, noiseAttestation: attestation, noisePubkey } = invite
  return { _tag: "Open", offered: { channel, holder, noisePubkey, attestation, label }, expiresAt }
}

const shown = (invite: ClaimStore.Invite, now: number) =>
  new ClaimInvite({
    channel: invite.channel,
    holder: invite.holder,
    label: invite.label,
    expires_at: invite.expiresAt,
    state: invite.usedAt !== null ? "used" : now < invite.expiresAt ? "open" : "expired"
  })

/** The e-mail of who confirms is put on the list in the same step, so it cannot be missing from it. */
const refusal = (failure: Rules.InviteGone | ClaimRefusal) => {
  switch (failure._tag) {
    case "InviteGone":
      return "reason" in failure ? new ClaimInviteGone({ reason: failure.reason }) : new ClaimInviteUnknown()
    case "NoVerifiedEmail":
      return new VerifiedEmailRequired()
    case "BadAttestation":
      return new AttestationRefused()
    case "HolderClaimedByOther":
      return new HolderClaimedElsewhere()
    case "NotAllowListed":
      return new ClaimInviteUnknown()
  }
}

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const invites = yield* ClaimStore.make
  const { requireOwner } = yield* Channels
  const { land, rosterFor } = yield* Claims
  const { once } = yield* Idempotency
  const { portalBaseUrl } = yield* Settings
  const random = yield* SecureRandom.SecureRandom

  const find = Effect.fnUntraced(function* (token: Redacted.Redacted, lock: boolean) {
    if (!isToken(Redacted.value(token))) return yield* new ClaimInviteUnknown()
    const found = yield* invites.findInvite({ tokenHash: hashOf(token), lock })
    return yield* Option.isSome(found) ? Effect.succeed(found.value) : new ClaimInviteUnknown()
  })

  const owned = (caller: Account, channel: ChannelId) =>
    Effect.catchTag(requireOwner(channel, caller), "NotChannelOwner", () => new ChannelNotFound())

  const insert = Effect.fnUntraced(function* (channel: ChannelId, material: MemberMaterial, label: string | undefined) {
    const token = Tokens.urlText(Redacted.make(yield* random.randomBytes(32)))
    const expiresAt = UnixSeconds.make((yield* unixSeconds) + claimInviteSeconds)
    const { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey } = material
    const row = { tokenHash: hashOf(token), channel, holder, noisePubkey, noiseAttestation, expiresAt }
    yield* invites.insertInvite({ ...row, label: label ?? null })
    return new MintedClaimInvite({
      invite: tokenFrom(Redacted.value(token)),
      url: `${portalBaseUrl.origin}/portal/claim?invite=${Redacted.value(token)}`,
      expires_at: expiresAt
    })
  })

  return {
    /** Fails as unknown unless the account owns the channel; asked before a body is looked at. */
    requireOwner: (caller: Account, channel: ChannelId) => asDefects(owned(caller, channel)),

    mint: Effect.fn("ClaimInvites.mint")(function* (
      caller: Account,
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
          : { caller: caller.subject, operation: `mint-claim-invite ${channel}`, key, request: { material, label } }
      const command = Effect.andThen(owned(caller, channel), insert(channel, material, label))
      return yield* once(repeat, MintedClaimInvite, command)
    }, asDefects),

    /** Every invite of a channel, without its token. */
    list: Effect.fn("ClaimInvites.list")(function* (caller: Account, channel: ChannelId, page: Page) {
      yield* owned(caller, channel)
      const now = yield* unixSeconds
      const found = yield* paged(
        page,
        Schema.String,
        (slice) => invites.invitesOf({ of: channel, ...slice }),
        ({ tokenHash }) => tokenHash
      )
      return found.map((invite) => shown(invite, now))
    }, asDefects),

    /** What the invite offers. Looking claims nothing. */
    show: Effect.fn("ClaimInvites.show")(function* (token: Redacted.Redacted) {
      const invite = yield* find(token, false)
      const now = yield* unixSeconds
      yield* Effect.mapError(
        Effect.fromResult(Rules.show(stateOf(invite), now)),
        ({ reason }) => new ClaimInviteGone({ reason })
      )
      return shown(invite, now)
    }, asDefects),

    /** Burns the invite, allow-lists the caller's e-mail under the owner, and lands the claim; all of it or nothing. */
    confirm: Effect.fn("ClaimInvites.confirm")(
      function* (caller: Account, token: Redacted.Redacted) {
        // Everybody takes the channel's lock first, so the invite is looked up for it and then read again.
        const { channel } = yield* find(token, false)
        yield* store.lock(channel)
        const invite = yield* find(token, true)
        const { holder, noiseAttestation: noise_attestation, noisePubkey: noise_pubkey } = invite
        const now = yield* unixSeconds
        const roster = yield* rosterFor(channel, caller, holder)
        const verdict = Rules.confirm(stateOf(invite), roster, caller, now)
        if (Result.isFailure(verdict)) return yield* refusal(verdict.failure)
        if (caller.email !== null) yield* invites.allow(channel, caller.email)
        yield* invites.burnInvite(invite.tokenHash, now)
        yield* land(channel, caller, new MemberMaterial({ holder, noise_pubkey, noise_attestation }))
        return { channel }
      },
      store.transaction,
      asDefects
    )
  }
})

export class ClaimInvites extends Context.Service<ClaimInvites, Effect.Success<typeof make>>()("server/ClaimInvites") {
  static readonly layer = Layer.effect(ClaimInvites, make)
}
