/**
 * The redemption of an operator's signed invitation into a channel, by somebody without an account: which checks are made, in
 * which order, and what may be used only once. The signatures are verified elsewhere; their outcomes arrive as facts.
 */
import { Result } from "effect"
import { refuse, type Step } from "../values/Step.ts"

/** `challenges`: nonce to the unix second of its issue. `redeemed`: signatures of the invitations that were used. */
export interface Redemptions {
  readonly challenges: ReadonlyMap<string, number>
  readonly redeemed: ReadonlySet<string>
}

/** A redemption as presented. `channelOwner` is null for a channel that is not registered. */
export interface Presentation {
  readonly channelOwner: string | null
  readonly operatorSignatureValid: boolean
  readonly expiresAt: number
  readonly challenge: string | null
  readonly redemptionSignatureValid: boolean
  readonly attestationValid: boolean
  readonly invitation: string
  readonly holder: string
}

/** Adds the holder as a member, under the account that owns the channel. */
export interface AddMember {
  readonly _tag: "AddMember"
  readonly owner: string
  readonly holder: string
}

/** In the order in which they are found. */
export type RedemptionRefusal = {
  readonly _tag:
    | "UnknownChannel"
    | "BadOperatorSignature"
    | "InvitationExpired"
    | "BadChallenge"
    | "BadRedemptionSignature"
    | "BadAttestation"
    | "AlreadyRedeemed"
}

/** A challenge is spent by the attempt that names it, whatever the answer is. */
export interface RedemptionAttempt {
  readonly next: Redemptions
  readonly answer: Result.Result<AddMember, RedemptionRefusal>
}

/** Seconds a challenge may be old. */
export const challengeSeconds = 120

/** Nothing issued, nothing redeemed. */
export const noRedemptions: Redemptions = { challenges: new Map(), redeemed: new Set() }

/**
 * Issues a challenge: `fresh` is a nonce that was never issued before. Challenges that are too old are forgotten.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { issueChallenge, noRedemptions } from "@catenet/domain/channels/InvitationRedemption"
 *
 * const { next } = issueChallenge(noRedemptions, "n1", 1000)
 * assert.deepEqual([...issueChallenge(next, "n2", 1121).next.challenges.keys()], ["n2"])
 * ```
 */
export const issueChallenge = (state: Redemptions, fresh: string, now: number): Step<Redemptions, never> => {
  const alive = [...state.challenges].filter(([, at]) => now - at <= challengeSeconds)
  return { next: { ...state, challenges: new Map(alive).set(fresh, now) }, effects: [] }
}

const invitationRefusal = (p: Presentation, now: number): RedemptionRefusal["_tag"] | null => {
  if (!p.operatorSignatureValid) return "BadOperatorSignature"
  return now >= p.expiresAt ? "InvitationExpired" : null
}

const inviteeRefusal = (p: Presentation): RedemptionRefusal["_tag"] | null => {
  if (!p.redemptionSignatureValid) return "BadRedemptionSignature"
  return p.attestationValid ? null : "BadAttestation"
}

/**
 * Redeems an invitation, which is identified by its signature and good for one membership.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { noRedemptions, redeem } from "@catenet/domain/channels/InvitationRedemption"
 *
 * const presentation = {
 *   channelOwner: "ada", operatorSignatureValid: true, expiresAt: 100, challenge: null,
 *   redemptionSignatureValid: true, attestationValid: true, invitation: "sig", holder: "h"
 * }
 * const first = redeem(noRedemptions, presentation, 99)
 * assert.deepEqual(first.answer, Result.succeed({ _tag: "AddMember", owner: "ada", holder: "h" }))
 * assert.deepEqual(redeem(first.next, presentation, 99).answer, Result.fail({ _tag: "AlreadyRedeemed" }))
 * ```
 */
export const redeem = (state: Redemptions, presentation: Presentation, now: number): RedemptionAttempt => {
  const { challenge, channelOwner, holder, invitation } = presentation
  if (channelOwner === null) return { next: state, answer: refuse({ _tag: "UnknownChannel" }) }
  const early = invitationRefusal(presentation, now)
  if (early !== null) return { next: state, answer: refuse({ _tag: early }) }
  const challenges = new Map(state.challenges)
  if (challenge !== null) challenges.delete(challenge)
  const spent: Redemptions = { ...state, challenges }
  if (challenge !== null) {
    const issuedAt = state.challenges.get(challenge)
    if (issuedAt === undefined || now - issuedAt > challengeSeconds)
      return { next: spent, answer: refuse({ _tag: "BadChallenge" }) }
  }
  const late = inviteeRefusal(presentation) ?? (state.redeemed.has(invitation) ? "AlreadyRedeemed" : null)
  if (late !== null) return { next: spent, answer: refuse({ _tag: late }) }
  return {
    next: { ...spent, redeemed: new Set(state.redeemed).add(invitation) },
    answer: Result.succeed({ _tag: "AddMember", owner: channelOwner, holder })
  }
}
