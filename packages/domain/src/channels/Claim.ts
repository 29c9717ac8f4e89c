/**
 * Claiming a membership of a channel by an e-mail address that the owner allow-listed. A claim is a membership, not a
 * grant: the owner still has to deposit the grant.
 */
import { Result, Schema } from "effect"
import { VerifiedEmailRequired } from "../identity/AuthenticationErrors.ts"
import type { Email } from "../values/Email.ts"
import type { Subject } from "../values/Ids.ts"
import { HolderKey, Signature } from "../values/Keys.ts"
import { ChannelId, Grant, MemberMaterial } from "./Channel.ts"
import { AttestationRefused, ClaimProofRefused, HolderClaimedElsewhere, NotAllowListed } from "./ChannelErrors.ts"

/** Whether the account of an allow-listed e-mail has claimed on the channel. */
export const ClaimState = Schema.Literals(["Pending", "Claimed"])
export type ClaimState = typeof ClaimState.Type

/** A channel that the caller's verified e-mail is allow-listed for. */
export class Claim extends Schema.Class<Claim>("Claim")({ channel: ChannelId, state: ClaimState }) {}

/** What a member finds when it asks for its grants: null until the owner has deposited one. */
export class ClaimedIdentity extends Schema.Class<ClaimedIdentity>("ClaimedIdentity")({
  holder: HolderKey,
  grant: Schema.NullOr(Grant)
}) {}

/**
 * A claim. The attestation is known to the holder's peers too; with `account_proof`, a signature by the holder over the account
 * (`@catenet/crypto/ClaimProof`), the claim takes the holder from an account that had no such proof.
 */
export class ClaimRequest extends Schema.Class<ClaimRequest>("ClaimRequest")({
  ...MemberMaterial.fields,
  account_proof: Schema.optionalKey(Signature)
}) {}

/** Whether the holder has signed for the account that claims. */
export type AccountProof = "none" | "valid" | "invalid"

/** Who claims: an account, with the verified e-mail of its session. */
export interface Claimant {
  readonly subject: Subject
  readonly email: Email | null
}

/** What is stored of a claim's e-mail and holder on its channel: `claimedBy` is null for a holder without a claim. */
export interface ClaimRecord {
  readonly isAllowed: boolean
  readonly claimedBy: Subject | null
  /** The claim that is there came with a proof. */
  readonly isProved: boolean
}

/** A claim that was accepted: the account is linked to the holder, and the holder is a member with this material. */
export interface AcceptedClaim {
  readonly subject: Subject
  readonly material: MemberMaterial
  readonly isProved: boolean
}

/**
 * Links a holder to an account. Removing the member frees the holder for another account.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { take } from "@catenet/domain/channels/Claim"
 *
 * assert.ok(Result.isSuccess(take(null, "ada", { holder: "h" })))
 * assert.ok(Result.isFailure(take("bob", "ada", { holder: "h" })))
 * ```
 */
export const take = (
  claimedBy: Subject | null,
  subject: Subject,
  material: MemberMaterial
): Result.Result<AcceptedClaim, HolderClaimedElsewhere> =>
  claimedBy === null || claimedBy === subject
    ? Result.succeed({ subject, material, isProved: false })
    : Result.fail(new HolderClaimedElsewhere())

/** Why a claim is refused, in the order in which it is found. */
export type ClaimRefusal =
  VerifiedEmailRequired | AttestationRefused | ClaimProofRefused | NotAllowListed | HolderClaimedElsewhere

/**
 * Decides about a claim. The proofs are the outcomes of the checks of signatures. Taking an e-mail off the
 * list stops later claims and leaves the earlier ones.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { claim } from "@catenet/domain/channels/Claim"
 *
 * const ada = { subject: "ada", email: "ada@example.org" }
 * const record = { isAllowed: true, claimedBy: "eve", isProved: false }
 * const proofs = { attestationValid: true, accountProof: "valid" }
 * assert.equal(Result.getOrThrow(claim(record, ada, { holder: "h" }, proofs)).subject, "ada")
 * assert.ok(Result.isFailure(claim(record, ada, { holder: "h" }, { ...proofs, accountProof: "none" })))
 * assert.ok(Result.isFailure(claim({ ...record, isAllowed: false }, ada, { holder: "h" }, proofs)))
 * ```
 */
export const claim = (
  { claimedBy, isAllowed, isProved }: ClaimRecord,
  { email, subject }: Claimant,
  material: MemberMaterial,
  { accountProof, attestationValid }: { readonly attestationValid: boolean; readonly accountProof: AccountProof }
): Result.Result<AcceptedClaim, ClaimRefusal> => {
  if (email === null) return Result.fail(new VerifiedEmailRequired())
  if (!attestationValid) return Result.fail(new AttestationRefused())
  if (accountProof === "invalid") return Result.fail(new ClaimProofRefused())
  if (!isAllowed) return Result.fail(new NotAllowListed())
  return accountProof === "valid" && (claimedBy === subject || !isProved)
    ? Result.succeed({ subject, material, isProved: true })
    : take(claimedBy, subject, material)
}
