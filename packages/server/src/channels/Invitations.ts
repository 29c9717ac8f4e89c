/**
 * Invitations across accounts: nobody signs in, everybody proves. The operator signed the invitation, the invitee signs
 * its redemption, the holder attests its Noise key. A challenge is spent by the attempt that names it.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import { native } from "@catenet/crypto/native"
import * as Redemption from "@catenet/crypto/Redemption"
import { Challenge, ChannelId, type InvitationRedemption } from "@catenet/domain/Channel"
import { ChannelUnknown, InvitationExpired, InvitationRefused, InvitationSpent } from "@catenet/domain/errors/Channels"
import { challengeSeconds, redeem, type RedemptionRefusal } from "@catenet/domain/rules/InvitationRedemption"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../Now.ts"
import { bytesOf, freshHex64 } from "../Secrets.ts"
import { asDefects } from "../store/Defects.ts"
import * as Attestation from "./Attestation.ts"
import * as Store from "./Store.ts"

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

const makeStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    issue: (challenge: Challenge, issuedAt: number) =>
      sql`insert into invitation_challenges ${sql.insert({ challenge, issuedAt })}`,
    spendChallenge: SqlSchema.findOneOption({
      Request: Challenge,
      Result: Schema.Struct({ issuedAt: Schema.Int }),
      execute: (challenge) => sql`delete from invitation_challenges where challenge = ${challenge} returning issued_at`
    }),
    isRedeemed: (signature: string) => sql`select 1 from invitation_redemptions where signature = ${signature}`,
    /** Nothing comes back when another redemption was first. Kept until the invitation expires by itself. */
    markRedeemed: (signature: string, expiresAt: number) =>
      sql`insert into invitation_redemptions ${sql.insert({ signature, expiresAt })} on conflict do nothing returning signature`,
    sweep: (before: number) => sql`delete from invitation_challenges where issued_at < ${before}`
  }
})

const make = Effect.gen(function* () {
  const channels = yield* Store.make
  const store = yield* makeStore
  const random = yield* SecureRandom.SecureRandom

  const operatorVerdict = (invitation: Invitation.Invitation, operator: string | undefined, now: number) => {
    if (operator === undefined) return false
    const verdict = Invitation.verify(native, invitation, bytesOf(operator), now)
    return Result.isSuccess(verdict) || verdict.failure._tag === "Expired"
  }

  const attempt = Effect.fnUntraced(
    function* (invitation: Invitation.Invitation, request: InvitationRedemption) {
      const now = yield* unixSeconds
      const { challenge, holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey, redeem_sig } = request
      const channel = idFrom(Hex.encode(invitation.channel))
      const signature = Hex.encode(invitation.signature)
      const keptUntil = Math.min(Number(invitation.expiresAt), Number.MAX_SAFE_INTEGER)
      yield* channels.lock(channel)
      const registered = Option.getOrUndefined(yield* channels.find(channel))
      const issued = challenge === undefined ? Option.none() : yield* store.spendChallenge(challenge)
      const proof = {
        channel: invitation.channel,
        invitee: invitation.invitee,
        holder: bytesOf(holder),
        challenge: challenge === undefined ? undefined : bytesOf(challenge)
      }
      const { answer } = redeem(
        {
          challenges: new Map(
            Option.isSome(issued) && challenge !== undefined ? [[challenge, issued.value.issuedAt]] : []
          ),
          redeemed: new Set((yield* store.isRedeemed(signature)).length > 0 ? [signature] : [])
        },
        {
          channelOwner: registered?.owner ?? null,
          operatorSignatureValid: operatorVerdict(invitation, registered?.operatorPubkey, now),
          expiresAt: keptUntil,
          challenge: challenge ?? null,
          redemptionSignatureValid: Redemption.verify(native, proof, bytesOf(redeem_sig)),
          attestationValid: Attestation.holds(channel, request),
          invitation: signature,
          holder
        },
        now
      )
      if (Result.isFailure(answer)) return Option.some(answer.failure)
      if ((yield* store.markRedeemed(signature, keptUntil)).length === 0) {
        return Option.some<RedemptionRefusal>({ _tag: "AlreadyRedeemed" })
      }
      yield* channels.putMember({ channel, holder, noisePubkey, noiseAttestation })
      return Option.none<RedemptionRefusal>()
    },
    // A refusal commits: the challenge it named is spent.
    channels.transaction,
    asDefects
  )

  return {
    /** A nonce for one redemption, alive for two minutes. */
    challenge: Effect.fn("Invitations.challenge")(function* () {
      const hex = yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random)
      const challenge = challengeFrom(hex)
      yield* store.issue(challenge, yield* unixSeconds)
      return challenge
    }, asDefects),

    redeem: Effect.fn("Invitations.redeem")(function* (request: InvitationRedemption) {
      const read = Invitation.fromHex(request.invitation)
      if (Result.isFailure(read)) return yield* new InvitationRefused()
      const refusal = yield* attempt(read.success, request)
      if (Option.isSome(refusal)) return yield* refused(refusal.value)
    }),

    /** Forgets challenges that nobody can use any more. */
    sweep: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(asDefects(store.sweep(now - challengeSeconds))))
  }
})

export class Invitations extends Context.Service<Invitations, Effect.Success<typeof make>>()("server/Invitations") {
  static readonly layer = Layer.effect(Invitations, make)
}
