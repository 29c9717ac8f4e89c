/**
 * Public keys whose secret is public: encodings of points of small order. A signature under such an
 * Ed25519 key can be made without a secret, and an exchange with such an X25519 key ends in a known secret.
 *
 * The lists are complete: every y of edwards25519 and every u of curve25519 whose order divides eight, and the same
 * number plus the field prime where that fits into 255 bits. The top bit is left out: it is the sign of x in the one
 * encoding, and ignored in the other.
 */

/** The last byte of 64 hex digits, without its top bit. */
const withoutTopBit = (key: string): string => {
  const last = Number.parseInt(key.slice(62), 16) & 0x7f
  return `${key.slice(0, 62)}${last.toString(16).padStart(2, "0")}`
}

/** Zero, one, minus one, and zero and one written with the prime added. */
const ofEither = [
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`
]

const heights = new Set([
  ...ofEither,
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
])

const coordinates = new Set([
  ...ofEither,
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"
])

/**
 * Whether an Ed25519 public key, 64 lower-case hex digits, is of small order.
 *
 * @example
 * ```ts
 * import { isSmallEd25519 } from "@catenet/domain/values/SmallOrder"
 *
 * if (!isSmallEd25519("00".repeat(32)) || isSmallEd25519("11".repeat(32))) throw new Error("zero has order four")
 * ```
 */
export const isSmallEd25519 = (key: string): boolean => heights.has(withoutTopBit(key))

/**
 * Whether an X25519 public key, 64 lower-case hex digits, is of small order.
 *
 * @example
 * ```ts
 * import { isSmallX25519 } from "@catenet/domain/values/SmallOrder"
 *
 * if (!isSmallX25519(`${"00".repeat(31)}80`) || isSmallX25519("11".repeat(32))) throw new Error("the top bit is not read")
 * ```
 */
export const isSmallX25519 = (key: string): boolean => coordinates.has(withoutTopBit(key))
