/**
 * Encoded points of edwards25519 as the acceptance rule reads them, and the cofactorless verification equation.
 *
 * Refuses only bytes that are on no curve point. A y at or above the field prime is reduced and a negative zero x is
 * zero, as OpenSSL does, because a stricter reader would reject signatures that every other member accepts.
 */
import { ed25519 } from "@noble/curves/ed25519.js"
import { sha512 } from "@noble/hashes/sha2.js"

const { Point } = ed25519
const { BASE, Fn } = Point

const decode = (encoded: Uint8Array) => {
  if (encoded.length !== 32) return undefined
  try {
    return Point.fromBytes(encoded, true)
  } catch {
    return undefined
  }
}

const littleEndian = (bytes: Uint8Array): bigint => bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i])

/**
 * Whether the bytes encode a point.
 *
 * ```ts
 * assert.isFalse(isPoint(new Uint8Array(32).fill(0x02)))
 * ```
 */
export const isPoint = (encoded: Uint8Array): boolean => decode(encoded) !== undefined

/** Whether the bytes are a point whose order divides eight. Such a key signs nothing; refuse it at registration. */
export const isSmallOrder = (encoded: Uint8Array): boolean => decode(encoded)?.isSmallOrder() ?? false

/** Ed25519 verification: the encoding of S·B - k·A equals R byte for byte, with S below the group order. */
export const verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  const A = decode(publicKey)
  if (A === undefined || signature.length !== 64) return false
  const S = littleEndian(signature.subarray(32))
  if (S >= Fn.ORDER) return false
  const R = signature.subarray(0, 32)
  const k = Fn.create(littleEndian(sha512.create().update(R).update(publicKey).update(message).digest()))
  return equal(BASE.multiplyUnsafe(S).subtract(A.multiplyUnsafe(k)).toBytes(), R)
}
