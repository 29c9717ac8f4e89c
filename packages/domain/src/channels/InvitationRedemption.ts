/**
 * The redemption of an operator's signed invitation into a channel, by a person without an account: which checks are made,
 * in which order, and what may be used only once. The signatures are verified elsewhere; their outcomes arrive as facts.
 */
import { Result, Schema } from "effect"
import { Hex278, Hex64 } from "../values/Hex.ts"
import { NewHolderKey, NewNoiseKey, NoiseAttestation, Signature } from "../values/Keys.ts"
import { namesGoodKey } from "./Channel.ts"
import { ChannelUnknown, InvitationExpired, InvitationRefused, InvitationSpent } from "./ChannelErrors.ts"

/** A single-use nonce that is bound into a redemption; lives `challengeSeconds`. */
export const Challenge = Hex64.pipe(Schema.brand("Challenge"))
export type Challenge = typeof Challenge.Type

/** Seconds a challenge may be old. */
export const challengeSeconds = 120

/** An operator-signed invitation across accounts, 139 bytes as 278 hex. */
export const Invitation = Hex278.pipe(Schema.brand("Invitation"))
export type Invitation = typeof Invitation.Type

const NewInvitation = Invitation.check(namesGoodKey)

/** The invitee redeems an invitation into a membership of `holder`. */
export class InvitationRedemption extends Schema.Class<InvitationRedemption>("InvitationRedemption")({
  invitation: NewInvitation,
  redeem_sig: Signature,
  holder: NewHolderKey,
  noise_pubkey: NewNoiseKey,
  noise_attestation: NoiseAttestation,
  challenge: Schema.optionalKey(Challenge)
}) {}

/**
 * What an attempt is decided by. The invitation is identified by its signature and expires with the second `expiresAt`;
 * `challengeIssuedAt` is the unix second of the challenge that the attempt names, null where it was never issued or is spent,
 * and undefined where the attempt names none.
 */
export interface RedemptionFacts {
  readonly isChannelRegistered: boolean
  readonly operatorSignatureValid: boolean
  readonly expiresAt: number
  readonly challengeIssuedAt: number | null | undefined
  readonly redemptionSignatureValid: boolean
  readonly attestationValid: boolean
  readonly isRedeemed: boolean
}

/** Why a redemption is refused. `InvitationRefused` does not say which of the proofs does not hold. */
export type RedemptionRefusal = ChannelUnknown | InvitationRefused | InvitationExpired | InvitationSpent

/**
 * `challengeSpent`: the attempt has spent the challenge that it names, whatever the answer is. An accepted redemption makes
 * the holder a member and uses the invitation up.
 */
export interface RedemptionAttempt {
  readonly challengeSpent: boolean
  readonly answer: Result.Result<void, RedemptionRefusal>
}

/**
 * Redeems an invitation, which is good for one membership.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { redeem } from "@catenet/domain/channels/InvitationRedemption"
 *
 * const facts = {
 *   isChannelRegistered: true, operatorSignatureValid: true, expiresAt: 100, challengeIssuedAt: 90,
 *   redemptionSignatureValid: true, attestationValid: true, isRedeemed: false
 * }
 * assert.deepEqual(redeem(facts, 99), { challengeSpent: true, answer: Result.void })
 * assert.ok(Result.isFailure(redeem({ ...facts, isRedeemed: true }, 99).answer))
 * assert.ok(Result.isFailure(redeem(facts, 100).answer))
 * ```
 */
export const redeem = (facts: RedemptionFacts, now: number): RedemptionAttempt => {
  const refused = (refusal: RedemptionRefusal, challengeSpent: boolean) => ({
    challengeSpent,
    answer: Result.fail(refusal)
  })
  if (!facts.isChannelRegistered) return refused(new ChannelUnknown(), false)
  if (!facts.operatorSignatureValid) return refused(new InvitationRefused(), false)
  if (now >= facts.expiresAt) return refused(new InvitationExpired(), false)
  const issuedAt = facts.challengeIssuedAt
  const challengeSpent = issuedAt !== undefined
  if (issuedAt === null || (issuedAt !== undefined && now - issuedAt > challengeSeconds)) {
    return refused(new InvitationRefused(), challengeSpent)
  }
  if (!facts.redemptionSignatureValid || !facts.attestationValid)
    return refused(new InvitationRefused(), challengeSpent)
  if (facts.isRedeemed) return refused(new InvitationSpent(), challengeSpent)
  return { challengeSpent, answer: Result.void }
}
