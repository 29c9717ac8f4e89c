/**
 * Invitations across accounts. The invitee does not sign in: the operator signed the invitation, the invitee signs its
 * redemption, the holder attests its Noise key. A challenge is spent by the attempt that names it, even if a later check
 * refuses.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import { native } from "@catenet/crypto/native"
import * as Redemption from "@catenet/crypto/Redemption"
import { ChannelId, MemberMaterial } from "@catenet/domain/channels/Channel"
import type {
  ChannelUnknown,
  InvitationExpired,
  InvitationRefused,
  InvitationSpent
} from "@catenet/domain/channels/ChannelErrors"
import {
  Challenge,
  challengeSeconds,
  type InvitationRedemption,
  redeem
} from "@catenet/domain/channels/InvitationRedemption"
import { maxChallenges } from "@catenet/domain/values/Quotas"
import { type LimitReached, MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { bytesOf, freshHex64 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import * as AttestationCheck from "./AttestationCheck.ts"
import { ChannelStore } from "./ChannelStore.ts"
import { Members } from "./Members.ts"

/** The tables of issued challenges and of redeemed invitations. */
export const makeInvitationStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const issued = SqlSchema.findOneOption({
    Request: Challenge,
    Result: Schema.Struct({ issuedAt: Schema.Int }),
    execute: (challenge) => sql`select issued_at from invitation_challenges where challenge = ${challenge} for update`
  })
  return {
    transaction: sql.withTransaction,
    issue: (challenge: Challenge, issuedAt: number, block: string) =>
      sql`insert into invitation_challenges ${sql.insert({ challenge, issuedAt, block })}`,
    /** When the challenge was issued, or null. Other attempts that name it wait until this transaction ends. */
    issuedAt: (challenge: Challenge) =>
      Effect.map(issued(challenge), (found) => Option.getOrNull(Option.map(found, ({ issuedAt }) => issuedAt))),
    spendChallenge: (challenge: Challenge) => sql`delete from invitation_challenges where challenge = ${challenge}`,
    isRedeemed: (signature: string) => sql`select 1 from invitation_redemptions where signature = ${signature}`,
    /** The mark stays until the invitation expires. */
    markRedeemed: (signature: string, expiresAt: number) =>
      sql`insert into invitation_redemptions ${sql.insert({ signature, expiresAt })}`,
    prune: (challengesBefore: number, now: number) =>
      Effect.all([
        sql`delete from invitation_challenges where issued_at < ${challengesBefore}`,
        // Of all that are left each block keeps its newest ones before any other has more.
        sql`delete from invitation_challenges where ctid = any(array(
          select ctid from (
            select ctid, issued_at, row_number() over (partition by block order by issued_at desc, challenge) as place
            from invitation_challenges
            where exists (select 1 from invitation_challenges order by issued_at offset ${maxChallenges})) ranked
          order by place, issued_at desc offset ${maxChallenges}))`,
        sql`delete from invitation_redemptions where expires_at <= ${now}`
      ])
  }
})

const challengeFrom = Schema.decodeSync(Challenge)
const idFrom = Schema.decodeSync(ChannelId)

/** Whether the signature verifies; expiry is checked separately. */
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
    /** Issues a nonce for one redemption, good for `challengeSeconds`, to somebody in a block of addresses. */
    readonly challenge: (block: string) => Effect.Effect<Challenge>
    /** Makes the holder a member of the channel, under the channel's owner. */
    readonly redeem: (
      request: InvitationRedemption
    ) => Effect.Effect<
      void,
      ChannelUnknown | InvitationExpired | InvitationRefused | InvitationSpent | LimitReached | MalformedRequest
    >
    /** Removes challenges and redemptions that have expired. */
    readonly prune: Effect.Effect<void>
  }
>()("server/channels/Invitations") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeInvitationStore
    const channels = yield* ChannelStore
    const members = yield* Members
    const sealing = yield* Sealing
    const random = yield* SecureRandom.SecureRandom

    /** A refusal is returned, not raised: the challenge that the attempt names stays spent. */
    const attempt = Effect.fnUntraced(function* (invitation: Invitation.Invitation, request: InvitationRedemption) {
      const now = yield* unixSeconds
      const { challenge, holder, noise_attestation, noise_pubkey } = request
      const channel = idFrom(Hex.encode(invitation.channel))
      const signature = Hex.encode(invitation.signature)
      yield* channels.lock(channel)
      const registered = Option.getOrUndefined(yield* channels.find(channel))
      const expiresAt = Math.min(Number(invitation.expiresAt), Number.MAX_SAFE_INTEGER)
      const isByOperator = registered !== undefined && isSignedBy(registered.operatorPubkey, invitation, now)
      const facts = {
        isChannelRegistered: registered !== undefined,
        operatorSignatureValid: isByOperator,
        expiresAt,
        challengeIssuedAt: challenge === undefined ? undefined : yield* store.issuedAt(challenge),
        // Anybody may send these two; they are looked at where the operator has invited somebody.
        redemptionSignatureValid: isByOperator && isSignedByInvitee(invitation, request),
        attestationValid: isByOperator && AttestationCheck.holds(channel, request),
        isRedeemed: (yield* store.isRedeemed(signature)).length > 0
      }
      const { answer, challengeSpent } = redeem(facts, now)
      if (challenge !== undefined && challengeSpent) yield* store.spendChallenge(challenge)
      if (Result.isSuccess(answer)) {
        yield* store.markRedeemed(signature, expiresAt)
        const invitee = `invitee:${Hex.encode(invitation.invitee)}`
        yield* members.put(invitee, channel, new MemberMaterial({ holder, noise_pubkey, noise_attestation }))
      }
      return answer
    }, inTransactionOf(store))

    return {
      challenge: Effect.fn("Invitations.challenge")(function* (block: string) {
        const challenge = challengeFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
        const of = sealing.pseudonym("invitation_challenges.block", block)
        yield* store.issue(challenge, yield* unixSeconds, of)
        return challenge
      }, sqlOrDie),

      redeem: Effect.fn("Invitations.redeem")(function* (request: InvitationRedemption) {
        yield* Effect.fromResult(yield* attempt(yield* read(request.invitation), request))
      }),

      prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.prune(now - challengeSeconds, now))))
    }
  })

  static readonly layer = Layer.effect(Invitations, Invitations.make).pipe(
    Layer.provide([ChannelStore.layer, Members.layer])
  )
}
