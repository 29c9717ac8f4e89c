/**
 * An invitation to claim one membership, valid for fifteen minutes and one use. It is consumed together with the claim,
 * so a refused claim does not consume it.
 */
import { Result, Schema } from "effect"
import { VerifiedEmailRequired } from "../identity/AuthenticationErrors.ts"
import { audit, type Audit } from "../values/AuditEffect.ts"
import type { Email } from "../values/Email.ts"
import type { Subject } from "../values/Ids.ts"
import { HolderKey, type NoiseAttestation, type NoiseKey } from "../values/Keys.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { step, type Step } from "../values/Step.ts"
import { label } from "../values/Text.ts"
import { ClaimInviteToken } from "../values/Tokens.ts"
import { ChannelId, claimInviteSeconds, MemberMaterial } from "./Channel.ts"
import { AttestationRefused, ClaimInviteGone, type HolderClaimedElsewhere } from "./ChannelErrors.ts"
import { type AcceptedClaim, type Claimant, take } from "./Claim.ts"

/** Written by the owner to tell claim invites apart. */
/** Characters of the label of a claim invite. */
export const maxInviteLabel = 64

export const InviteLabel = label(maxInviteLabel)

/** A fresh claim invite: the token is in this answer only. */
export class MintedClaimInvite extends Schema.Class<MintedClaimInvite>("MintedClaimInvite")({
  invite: ClaimInviteToken,
  url: Schema.String,
  expires_at: UnixSeconds
}) {}

/** A claim invite without its token: for the owner's list, and for the person who follows it. */
export class ClaimInvite extends Schema.Class<ClaimInvite>("ClaimInvite")({
  channel: ChannelId,
  holder: HolderKey,
  label: Schema.NullOr(InviteLabel),
  expires_at: UnixSeconds,
  state: Schema.Literals(["open", "used", "expired"])
}) {}

/** An invitation as it is stored. It is expired from the second `expiresAt` on. */
export interface StoredClaimInvite {
  readonly channel: ChannelId
  readonly holder: HolderKey
  readonly noisePubkey: NoiseKey
  readonly noiseAttestation: NoiseAttestation
  readonly label: string | null
  readonly expiresAt: UnixSeconds
  readonly usedAt: UnixSeconds | null
}

/** What the owner of a channel asks for. `attestationValid` is the outcome of the signature check of `material`. */
export interface ClaimInviteRequest {
  readonly material: MemberMaterial
  readonly attestationValid: boolean
  readonly label: string | null
}

/**
 * Mints an invitation to a channel of `subject`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { mint } from "@catenet/domain/channels/ClaimInvite"
 *
 * const material = { holder: "h", noise_pubkey: "n", noise_attestation: "a" }
 * const request = { material, attestationValid: true, label: "laptop" }
 * assert.equal(Result.getOrThrow(mint("c", "ada", request, 1000)).next.expiresAt, 1900)
 * assert.ok(Result.isFailure(mint("c", "ada", { ...request, attestationValid: false }, 1000)))
 * ```
 */
export const mint = (
  channel: ChannelId,
  subject: Subject,
  { attestationValid, label: own, material }: ClaimInviteRequest,
  now: UnixSeconds
): Result.Result<Step<StoredClaimInvite, Audit>, AttestationRefused> => {
  if (!attestationValid) return Result.fail(new AttestationRefused())
  const { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey } = material
  const expiresAt = UnixSeconds.make(now + claimInviteSeconds)
  return step<StoredClaimInvite, Audit>(
    { channel, holder, noisePubkey, noiseAttestation, label: own, expiresAt, usedAt: null },
    audit("claim_invite_minted", subject, channel, holder)
  )
}

/**
 * An invitation as its owner and the person who follows it see it.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { view } from "@catenet/domain/channels/ClaimInvite"
 *
 * const key = "1".repeat(64)
 * const invite = { channel: key, holder: key, label: null, expiresAt: 50, usedAt: null }
 * assert.equal(view(invite, 49).state, "open")
 * assert.equal(view(invite, 50).state, "expired")
 * assert.equal(view({ ...invite, usedAt: 10 }, 50).state, "used")
 * ```
 */
export const view = ({ channel, expiresAt, holder, label: own, usedAt }: StoredClaimInvite, now: number): ClaimInvite =>
  new ClaimInvite({
    channel,
    holder,
    label: own,
    expires_at: expiresAt,
    state: usedAt !== null ? "used" : now < expiresAt ? "open" : "expired"
  })

/**
 * What the page shows before the confirmation. Looking claims nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { show } from "@catenet/domain/channels/ClaimInvite"
 *
 * const key = "1".repeat(64)
 * const invite = { channel: key, holder: key, label: null, expiresAt: 50, usedAt: null }
 * assert.equal(Result.getOrThrow(show(invite, 49)).holder, key)
 * assert.ok(Result.isFailure(show(invite, 50)))
 * assert.ok(Result.isFailure(show({ ...invite, usedAt: 40 }, 49)))
 * ```
 */
export const show = (invite: StoredClaimInvite, now: number): Result.Result<ClaimInvite, ClaimInviteGone> => {
  const shown = view(invite, now)
  return shown.state === "open" ? Result.succeed(shown) : Result.fail(new ClaimInviteGone({ reason: shown.state }))
}

/** The invitation is used up, `email` is allow-listed under the owner, and the claim is accepted: all of it or nothing. */
export interface ConfirmedInvite {
  readonly invite: StoredClaimInvite & { readonly usedAt: UnixSeconds }
  readonly email: Email
  readonly claim: AcceptedClaim
}

/**
 * Confirms an invitation. `claimedBy` is the account that has claimed the offered holder, if there is one.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { confirm } from "@catenet/domain/channels/ClaimInvite"
 *
 * const key = "1".repeat(64)
 * const offered = { channel: key, holder: key, noisePubkey: "2".repeat(64), noiseAttestation: "3".repeat(128) }
 * const open = { ...offered, label: null, expiresAt: 50, usedAt: null }
 * const ada = { subject: "ada", email: "ada@example.org" }
 * const { claim, invite } = Result.getOrThrow(confirm(open, null, ada, 40))
 * assert.deepEqual([claim.subject, claim.material.holder, invite.usedAt], ["ada", key, 40])
 * assert.ok(Result.isFailure(confirm(invite, "ada", ada, 41)))
 * ```
 */
export const confirm = (
  invite: StoredClaimInvite,
  claimedBy: Subject | null,
  { email, subject }: Claimant,
  now: UnixSeconds
): Result.Result<ConfirmedInvite, ClaimInviteGone | VerifiedEmailRequired | HolderClaimedElsewhere> =>
  Result.gen(function* () {
    yield* show(invite, now)
    if (email === null) return yield* Result.fail(new VerifiedEmailRequired())
    const { holder, noiseAttestation: noise_attestation, noisePubkey: noise_pubkey } = invite
    const claim = yield* take(claimedBy, subject, new MemberMaterial({ holder, noise_pubkey, noise_attestation }))
    return { invite: { ...invite, usedAt: now }, email, claim }
  })
