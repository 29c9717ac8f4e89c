/**
 * What can be wrong with a signed record, in the two orders of section 0.4.
 *
 * The errors here are for logs: they name the check. A peer gets a coarser answer, such as a token of `admission/Refusal`, so that
 * it cannot use the answers to tell a wrong key from a wrong signature.
 */
import { Data, Result } from "effect"
import type { Seconds } from "./Integer.ts"
import type { Suite } from "./Suite.ts"

/** The bytes or the JSON are not such a record. */
export class Malformed extends Data.TaggedError("Malformed")<{ readonly record: string; readonly why: string }> {
  override get message() {
    return `${this.record}: ${this.why}`
  }
}

/** The key that should have signed is not a point of the curve. */
export class BadKey extends Data.TaggedError("BadKey")<{ readonly record: string }> {
  override get message() {
    return `${this.record}: the signer's key is no curve point`
  }
}

/** The signature does not hold under that key. */
export class BadSignature extends Data.TaggedError("BadSignature")<{ readonly record: string }> {
  override get message() {
    return `${this.record}: the signature does not hold`
  }
}

/** The signature holds, but the record is dead: `now >= expiresAt`. */
export class Expired extends Data.TaggedError("Expired")<{ readonly record: string; readonly expiresAt: bigint }> {
  override get message() {
    return `${this.record}: expired at ${this.expiresAt}`
  }
}

/**
 * Alive while `now < expiresAt`: at equality the record is dead. No allowance for clock skew.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { alive } from "@catenet/crypto/SignedRecord"
 *
 * ok(alive(999, 1000n) && !alive(1000, 1000n))
 * ```
 */
export const alive = (now: Seconds, expiresAt: bigint): boolean => now < expiresAt

const written = (preimage: () => Uint8Array): Uint8Array | undefined => {
  try {
    return preimage()
  } catch {
    return undefined
  }
}

/**
 * Whether the signature over the preimage holds. A record that cannot be written at all (a key of the wrong size, half a
 * surrogate pair) was never signed, so the answer is no.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { holds } from "@catenet/crypto/SignedRecord"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(7)
 * const message = Uint8Array.of(1, 2, 3)
 * const signature = portable.ed25519.sign(seed, message)
 * ok(holds(portable, portable.ed25519.publicKey(seed), () => message, signature))
 * ```
 */
export const holds = (
  suite: Suite,
  publicKey: Uint8Array,
  preimage: () => Uint8Array,
  signature: Uint8Array
): boolean => {
  const message = written(preimage)
  return message !== undefined && suite.ed25519.verifyLenient(publicKey, message, signature)
}

/**
 * The same, and neither the key nor R has small order. For proofs that a stranger sends to a server: no program makes such
 * a signature, and the second opinion that the lenient rule needs on one costs the server several times what it costs the sender.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { holdsStrictly } from "@catenet/crypto/SignedRecord"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const signature = new Uint8Array(64)
 * ok(!holdsStrictly(portable, new Uint8Array(32), () => Uint8Array.of(1), signature))
 * ```
 */
export const holdsStrictly = (
  suite: Suite,
  publicKey: Uint8Array,
  preimage: () => Uint8Array,
  signature: Uint8Array
): boolean => {
  const message = written(preimage)
  return message !== undefined && suite.ed25519.verify(publicKey, message, signature)
}

/** A record of kind A in parts. */
export interface Claim {
  readonly record: string
  readonly publicKey: Uint8Array
  readonly preimage: () => Uint8Array
  readonly signature: Uint8Array
  readonly expiresAt: bigint
}

/**
 * Kind A: key form, then signature, then expiry. A forged and expired record reports the bad signature.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { check } from "@catenet/crypto/SignedRecord"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(7)
 * const message = Uint8Array.of(1, 2, 3)
 * const claim = {
 *   record: "example",
 *   publicKey: portable.ed25519.publicKey(seed),
 *   preimage: () => message,
 *   signature: portable.ed25519.sign(seed, message),
 *   expiresAt: 1000n
 * }
 * strictEqual(Result.isSuccess(check(portable, claim, 999)), true)
 * strictEqual(Result.getOrThrow(Result.flip(check(portable, claim, 1000)))._tag, "Expired")
 * ```
 */
export const check = (
  suite: Suite,
  claim: Claim,
  now: Seconds
): Result.Result<void, BadKey | BadSignature | Expired> => {
  const { record, expiresAt } = claim
  if (!holds(suite, claim.publicKey, claim.preimage, claim.signature)) {
    return Result.fail(
      suite.ed25519.isPublicKey(claim.publicKey) ? new BadSignature({ record }) : new BadKey({ record })
    )
  }
  return alive(now, expiresAt) ? Result.succeed(undefined) : Result.fail(new Expired({ record, expiresAt }))
}
