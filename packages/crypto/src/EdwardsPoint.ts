/**
 * Decodes points of edwards25519 by the acceptance rule, and checks the cofactorless verification equation.
 *
 * Refuses only bytes that do not encode a point of the curve. A y at or above the field prime is reduced and a negative zero x is
 * zero, as OpenSSL does, because a stricter reader would reject signatures that every other member accepts.
 */
import { ed25519, ED25519_TORSION_SUBGROUP } from "@noble/curves/ed25519.js"
import { bytesToHex, hexToBytes } from "@noble/curves/utils.js"
import { sha512 } from "@noble/hashes/sha2.js"
import * as Bytes from "./Bytes.ts"

const { Point } = ed25519
const { BASE, Fn } = Point

const decode = (encoded: Uint8Array) => {
  try {
    return Point.fromBytes(encoded, true)
  } catch {
    return undefined
  }
}

const littleEndian = (bytes: Uint8Array): bigint => bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i])

/** The encoded y-coordinate: all but the top bit. */
const heightOf = (encoded: Uint8Array): string => {
  const height = Bytes.copy(encoded)
  height[31] = (height[31] ?? 0) & 0x7f
  return bytesToHex(height)
}

/** Encodings of the points of order 1, 2, 4 and 8: y, and y plus the prime if that fits into 255 bits. */
const smallOrderHeights = new Set([
  ...ED25519_TORSION_SUBGROUP.map((encoded) => heightOf(hexToBytes(encoded))),
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`
])

/**
 * Whether the bytes encode a point.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as EdwardsPoint from "@catenet/crypto/EdwardsPoint"
 *
 * ok(EdwardsPoint.isPoint(new Uint8Array(32).fill(1)))
 * ok(!EdwardsPoint.isPoint(new Uint8Array(32).fill(2)))
 * ok(!EdwardsPoint.isPoint(new Uint8Array(31).fill(1)))
 * ```
 */
export const isPoint = (encoded: Uint8Array): boolean => decode(encoded) !== undefined

/**
 * Whether the bytes are a point whose order divides eight. A signature for such a key can be made without a secret; refuse it at registration.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as EdwardsPoint from "@catenet/crypto/EdwardsPoint"
 *
 * ok(EdwardsPoint.isSmallOrder(new Uint8Array(32)))
 * ok(!EdwardsPoint.isSmallOrder(new Uint8Array(32).fill(1)))
 * ```
 */
export const isSmallOrder = (encoded: Uint8Array): boolean =>
  encoded.length === 32 && smallOrderHeights.has(heightOf(encoded))

/**
 * Ed25519 verification: the encoding of S·B - k·A equals R byte for byte, with S below the group order.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as EdwardsPoint from "@catenet/crypto/EdwardsPoint"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const [seed, message] = [new Uint8Array(32).fill(7), Uint8Array.of(1, 2, 3)]
 * const signature = portable.ed25519.sign(seed, message)
 * ok(EdwardsPoint.verifyLenient(portable.ed25519.publicKey(seed), message, signature))
 * ok(!EdwardsPoint.verifyLenient(portable.ed25519.publicKey(seed), Uint8Array.of(1, 2, 4), signature))
 * ```
 */
export const verifyLenient = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  const A = decode(publicKey)
  if (A === undefined || signature.length !== 64) return false
  const S = littleEndian(signature.subarray(32))
  if (S >= Fn.ORDER) return false
  const R = signature.subarray(0, 32)
  const k = Fn.create(littleEndian(sha512.create().update(R).update(publicKey).update(message).digest()))
  return equal(BASE.multiplyUnsafe(S).subtract(A.multiplyUnsafe(k)).toBytes(), R)
}
