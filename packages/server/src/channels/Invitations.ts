/**
 * Invitations across accounts: nobody signs in, everybody proves. The operator signed the invitation, the invitee signs
 * its redemption, the holder attests its Noise key. A challenge is spent by the attempt that names it, even if a later
 * check refuses.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import { native } from "@catenet/crypto/native"
import * as Redemption from "@catenet/crypto/Redemption"
import { Challenge, ChannelId, type InvitationRedemption, MemberMaterial } from "@catenet/domain/channels/Channel"
import {
  ChannelUnknown,
  InvitationExpired,
  InvitationRefused,
  InvitationSpent
} from "@catenet/domain/channels/ChannelErrors"
import { MalformedRequest, type LimitReached } from "@catenet/domain/values/RequestErrors"
import {
  challengeSeconds,
  type Presentation,
  redeem,
  type RedemptionRefusal
} from "@catenet/domain/channels/InvitationRedemption"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Attestation from "./Attestation.ts"
import { Members } from "./Members.ts"
import * as ChannelStore from "./ChannelStore.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { bytesOf, freshHex64 } from "../runtime/Secrets.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Store from "./InvitationStore.ts"

const challengeFrom = Schema.decodeSync(Challenge)
const idFrom = Schema.decodeSync(ChannelId)

const refused = ({ _tag }: RedemptionRefusal) => {
  switch (_tag) {
    case "UnknownChannel":
      return new ChannelUnknown()
    case "InvitationExpired":
      return new InvitationExpired()
    case "AlreadyRedeemed":
      return new InvitationSpent()
    default:
      return new InvitationRefused()
  }
}

/** The signature alone: expiry is another answer. */
const isSignedBy = (operator: string, invitation: Invitation.Invitation, now: number) => {
  const verdict = Invitation.verify(native, invitation, bytesOf(operator), now)
  return Result.isSuccess(verdict) || verdict.failure._tag === "Expired"
}

const isSignedByInvitee = ({ channel, invitee }: Invitation.Invitation, request: InvitationRedemption) =>
  Redemption.verify(
    native,
    {
      channel,
      invitee,
      holder: bytesOf(request.holder),
      challenge: request.challenge === undefined ? undefined : bytesOf(request.challenge)
    },
    bytesOf(request.redeem_sig)
  )

const read = (hex: string) =>
  Effect.mapError(
    Effect.fromResult(Invitation.fromHex(hex)),
    ({ why }) => new MalformedRequest({ errors: [{ path: ["invitation"], message: why }] })
  )

export class Invitations extends Context.Service<
  Invitations,
  {
    /** A nonce for one redemption, alive for two minutes. */
    readonly challenge: () => Effect.Effect<Challenge>
    /** Makes the holder a member of the channel, under the channel's owner. */
    readonly redeem: (
      request: InvitationRedemption
    ) => Effect.Effect<
      void,
      ChannelUnknown | InvitationExpired | InvitationRefused | InvitationSpent | LimitReached | MalformedRequest
    >
    /** Forgets challenges and invitations that nobody can use any more. */
    readonly prune: Effect.Effect<void>
  }
>()("server/channels/Invitations") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const channels = yield* ChannelStore.make
    const members = yield* Members
    const random = yield* SecureRandom.SecureRandom

    const load = Effect.fnUntraced(function* (challenge: Challenge | undefined, signature: string) {
      const issued = challenge === undefined ? Option.none() : yield* store.findChallenge(challenge)
      const isRedeemed = (yield* store.isRedeemed(signature)).length > 0
      return {
        challenges: new Map(Option.toArray(issued).map(({ issuedAt }) => [challenge ?? "", issuedAt])),
        redeemed: new Set(isRedeemed ? [signature] : [])
      }
    })

    /** A refusal is returned, not raised: what the attempt has spent stays spent. */
    const attempt = Effect.fnUntraced(
      function* (invitation: Invitation.Invitation, request: InvitationRedemption) {
        const now = yield* unixSeconds
        const { challenge, holder, noise_attestation, noise_pubkey } = request
        const channel = idFrom(Hex.encode(invitation.channel))
        const signature = Hex.encode(invitation.signature)
        yield* channels.lock(channel)
        const registered = Option.getOrUndefined(yield* channels.find(channel))
        const expiresAt = Math.min(Number(invitation.expiresAt), Number.MAX_SAFE_INTEGER)
        const presentation: Presentation = {
          channelOwner: registered?.owner ?? null,
          operatorSignatureValid: registered !== undefined && isSignedBy(registered.operatorPubkey, invitation, now),
          expiresAt,
          challenge: challenge ?? null,
          redemptionSignatureValid: isSignedByInvitee(invitation, request),
          attestationValid: Attestation.holds(channel, request),
          invitation: signature,
          holder
        }
        const { answer, next } = redeem(yield* load(challenge, signature), presentation, now)
        if (challenge !== undefined && !next.challenges.has(challenge)) yield* store.spendChallenge(challenge)
        if (Result.isFailure(answer)) return Option.some(answer.failure)
        yield* store.markRedeemed(signature, expiresAt)
        const invitee = `invitee:${Hex.encode(invitation.invitee)}`
        yield* members.put(invitee, channel, new MemberMaterial({ holder, noise_pubkey, noise_attestation }))
        return Option.none<RedemptionRefusal>()
      },
      store.transaction,
      sqlOrDie
    )

    return {
      challenge: Effect.fn("Invitations.challenge")(function* () {
        const challenge = challengeFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
        yield* store.issue(challenge, yield* unixSeconds)
        return challenge
      }, sqlOrDie),

      redeem: Effect.fn("Invitations.redeem")(function* (request: InvitationRedemption) {
        const refusal = yield* attempt(yield* read(request.invitation), request)
        if (Option.isSome(refusal)) return yield* refused(refusal.value)
      }),

      prune: Effect.flatMap(unixSeconds, (now) =>
        Effect.asVoid(Effect.orDie(store.forget(now - challengeSeconds, now)))
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(Invitations, Invitations.make)
  static readonly layer = Invitations.layerNoDeps.pipe(Layer.provide([Members.layer]))
}
