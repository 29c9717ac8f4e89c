/**
 * A channel invitation (section 5): the operator's offer to an identity, who redeems it for a holder key of its own
 * choice. The layout is the grant's, the signed text is not. It is used once: the caller keeps the signature bytes of
 * redeemed invitations until their expiry.
 */
import { Redacted, Result } from "effect"
import type { Claims as GrantClaims } from "./Grant.ts"
import * as Hex from "./Hex.ts"
import type { Seconds } from "./Integer.ts"
import * as Permission from "./Permission.ts"
import { type BadKey, type BadSignature, check, type Expired, Malformed } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** What an invitation says. */
export interface Claims extends Permission.Permission {
  /** 32 bytes. */
  readonly channel: Uint8Array
  /** 32 bytes: the invitee's identity key. */
  readonly invitee: Uint8Array
}

/** An invitation as it is handed over. */
export interface Invitation extends Claims {
  /** 64 bytes. */
  readonly signature: Uint8Array
}

const record = "invitation"

/**
 * The signed text as bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Invitation from "@catenet/crypto/Invitation"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, invitee: key, direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * strictEqual(Invitation.preimage(claims).length, 162)
 * ```
 */
export const preimage = (claims: Claims): Uint8Array =>
  Permission.preimage("ct-chan-invite:v1", { ...claims, subject: claims.invitee })

/**
 * Signs the claims with the operator's seed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as Invitation from "@catenet/crypto/Invitation"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const key = new Uint8Array(32)
 * const claims = { channel: key, invitee: key, direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * const invitation = Invitation.sign(portable, seed, claims)
 * ok(Result.isSuccess(Invitation.verify(portable, invitation, operator, 999)))
 * ```
 */
export const sign = (suite: Suite, operatorSeed: Redacted.Redacted<Uint8Array>, claims: Claims): Invitation => ({
  ...claims,
  signature: suite.ed25519.sign(Redacted.value(operatorSeed), preimage(claims))
})

/**
 * The 278 lowercase hex characters.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Invitation from "@catenet/crypto/Invitation"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, invitee: key, direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * strictEqual(Invitation.toHex({ ...claims, signature: new Uint8Array(64) }).length, 278)
 * ```
 */
export const toHex = (invitation: Invitation): string => Hex.encode(encode(invitation))

/**
 * Reads exactly 278 hex characters of either case.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Invitation from "@catenet/crypto/Invitation"
 *
 * ok(Result.isFailure(Invitation.fromHex("00")))
 * ```
 */
export const fromHex = (text: string): Result.Result<Invitation, Malformed> =>
  Hex.decode(text, Permission.wireLength).pipe(
    Result.mapError((error) => new Malformed({ record, why: error.message })),
    Result.flatMap(decode)
  )

/**
 * The 139 wire bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Invitation from "@catenet/crypto/Invitation"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, invitee: key, direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * strictEqual(Invitation.encode({ ...claims, signature: new Uint8Array(64) }).length, 139)
 * ```
 */
export const encode = (invitation: Invitation): Uint8Array =>
  Permission.encode({ ...invitation, subject: invitation.invitee })

/**
 * Reads exactly 139 bytes; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Invitation from "@catenet/crypto/Invitation"
 *
 * ok(Result.isFailure(Invitation.decode(new Uint8Array(140))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Invitation, Malformed> =>
  Result.map(Permission.decode(record, bytes), ({ subject, ...signed }) => ({ ...signed, invitee: subject }))

/**
 * Checks an invitation under the channel's operator key: key form, then signature, then expiry.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Invitation from "@catenet/crypto/Invitation"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const notAPoint = Uint8Array.of(2, ...new Uint8Array(31))
 * const invitation = Result.getOrThrow(Invitation.fromHex("0".repeat(256) + "010100" + "0".repeat(16)))
 * strictEqual(Result.getOrThrow(Result.flip(Invitation.verify(portable, invitation, notAPoint, 0)))._tag, "BadKey")
 * ```
 */
export const verify = (
  suite: Suite,
  invitation: Invitation,
  operator: Uint8Array,
  now: Seconds
): Result.Result<void, BadKey | BadSignature | Expired> => {
  const { signature, expiresAt } = invitation
  return check(suite, { record, publicKey: operator, preimage: () => preimage(invitation), signature, expiresAt }, now)
}

/**
 * The grant that a redeemed invitation allows the operator to sign: its own channel and permission, for the holder that
 * the invitee chose.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Invitation from "@catenet/crypto/Invitation"
 *
 * const [key, holder] = [new Uint8Array(32), new Uint8Array(32).fill(1)]
 * const claims = { channel: key, invitee: key, direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * strictEqual(Invitation.grantClaims(claims, holder).holder, holder)
 * ```
 */
export const grantClaims = (claims: Claims, holder: Uint8Array): GrantClaims => {
  const { channel, direction, rights, delegable, expiresAt } = claims
  return { channel, holder, direction, rights, delegable, expiresAt }
}
