/**
 * A membership staple (section 6.9): the operator's signed statement that a holder was a member at a time, for admission while the
 * control plane cannot be asked. Optional; nothing demands one.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Integer from "@catenet/crypto/Integer"
import * as Preimage from "@catenet/crypto/Preimage"
import { alive, holds, type Malformed } from "@catenet/crypto/SignedRecord"
import type { Suite } from "@catenet/crypto/Suite"
import { Redacted, type Result } from "effect"
import * as ByteReader from "./ByteReader.ts"

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
 */
export const preimage = (claims: Claims): Uint8Array => Preimage.make("ct-membership-staple-v1", ...fields(claims))

/**
 * Signs the claims with the operator's seed.
 */
export const sign = (suite: Suite, operatorSeed: Redacted.Redacted<Uint8Array>, claims: Claims): Staple => ({
  ...claims,
  signature: suite.ed25519.sign(Redacted.value(operatorSeed), preimage(claims))
})

/**
 * The 144 wire bytes.
 */
export const encode = (staple: Staple): Uint8Array =>
  Bytes.concat(Preimage.fixed64(staple.signature), ...fields(staple))

/**
 * Reads exactly 144 bytes; nothing is verified.
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
 */
export const verify = (suite: Suite, staple: Staple, operator: Uint8Array, now: Integer.Seconds): boolean =>
  alive(now, staple.expiresAt) && holds(suite, operator, () => preimage(staple), staple.signature)
