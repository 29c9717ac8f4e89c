/**
 * A membership staple (section 6.9): the operator's signed statement that a holder was a member at a time, for admission while the
 * control plane cannot be asked. Optional; nothing demands one.
 */
import { Redacted, type Result } from "effect"
import * as ByteReader from "../ByteReader.ts"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import { alive, holds, type Malformed } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

/** Who was a member of which channel. Times in Unix seconds. */
export interface Claims {
  readonly channel: Uint8Array
  readonly holder: Uint8Array
  readonly stapledAt: bigint
  readonly expiresAt: bigint
}

/** A signed staple. */
export interface Staple extends Claims {
  readonly signature: Uint8Array
}

const fields = (claims: Claims) => [
  Preimage.fixed32(claims.channel),
  Preimage.fixed32(claims.holder),
  Integer.u64le(claims.stapledAt),
  Integer.u64le(claims.expiresAt)
]

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Staple from "@catenet/crypto/admission/Staple"
 *
 * const key = new Uint8Array(32)
 * strictEqual(Staple.preimage({ channel: key, holder: key, stapledAt: 7n, expiresAt: 9n }).length, 27 + 80)
 * ```
 */
export const preimage = (claims: Claims): Uint8Array => Preimage.make("ct-membership-staple-v1", ...fields(claims))

/**
 * Signs the claims with the operator's seed.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Staple from "@catenet/crypto/admission/Staple"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const key = new Uint8Array(32)
 * const staple = Staple.sign(portable, seed, { channel: key, holder: key, stapledAt: 7n, expiresAt: 9n })
 * deepStrictEqual([8, 9].map((now) => Staple.verify(portable, staple, operator, now)), [true, false])
 * ```
 */
export const sign = (suite: Suite, operatorSeed: Redacted.Redacted<Uint8Array>, claims: Claims): Staple => ({
  ...claims,
  signature: suite.ed25519.sign(Redacted.value(operatorSeed), preimage(claims))
})

/**
 * The 144 wire bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Staple from "@catenet/crypto/admission/Staple"
 *
 * const key = new Uint8Array(32)
 * const claims = { channel: key, holder: key, stapledAt: 7n, expiresAt: 9n }
 * strictEqual(Staple.encode({ ...claims, signature: new Uint8Array(64) }).length, 144)
 * ```
 */
export const encode = (staple: Staple): Uint8Array =>
  Bytes.concat(Preimage.fixed64(staple.signature), ...fields(staple))

/**
 * Reads exactly 144 bytes; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Staple from "@catenet/crypto/admission/Staple"
 *
 * ok(Result.isSuccess(Staple.decode(new Uint8Array(144))) && Result.isFailure(Staple.decode(new Uint8Array(145))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Staple, Malformed> =>
  ByteReader.decode("membership staple", bytes, (reader) => ({
    signature: reader.take(64),
    channel: reader.take(32),
    holder: reader.take(32),
    stapledAt: reader.u64le(),
    expiresAt: reader.u64le()
  }))

/**
 * Whether the staple is alive and signed by the operator.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Staple from "@catenet/crypto/admission/Staple"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const staple = Result.getOrThrow(Staple.decode(new Uint8Array(144).fill(1)))
 * ok(!Staple.verify(portable, staple, new Uint8Array(32), 0))
 * ```
 */
export const verify = (suite: Suite, staple: Staple, operator: Uint8Array, now: Integer.Seconds): boolean =>
  alive(now, staple.expiresAt) && holds(suite, operator, () => preimage(staple), staple.signature)
