/**
 * Public keys and signatures as the platform names them. Each is hex of a fixed length; none is a secret.
 *
 * A request that stores a key for the first time takes one of the `New` schemas, which refuse points of small order.
 * Rows, answers and look-ups take the others, so that a key which an earlier release stored can be read and removed.
 */
import { Schema } from "effect"
import { Hex128, Hex64 } from "./Hex.ts"
import { patternBy } from "./Pattern.ts"

// Public keys whose secret is public: encodings of points of small order. A signature under such an
// Ed25519 key can be made without a secret, and an exchange with such an X25519 key ends in a known secret.
//
// The lists are complete: every y of edwards25519 and every u of curve25519 whose order divides eight, and the same
// number plus the field prime where that fits into 255 bits. The top bit is left out: it is the sign of x in the one
// encoding, and ignored in the other.

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
 * import { isSmallEd25519 } from "@catenet/domain/values/Keys"
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
 * import { isSmallX25519 } from "@catenet/domain/values/Keys"
 *
 * if (!isSmallX25519(`${"00".repeat(31)}80`) || isSmallX25519("11".repeat(32))) throw new Error("the top bit is not read")
 * ```
 */
export const isSmallX25519 = (key: string): boolean => coordinates.has(withoutTopBit(key))

/** An agent's Ed25519 identity; a node of a topology and a member of a channel are named by it. */
export const HolderKey = Hex64.pipe(Schema.brand("HolderKey"))
export type HolderKey = typeof HolderKey.Type

/** The Ed25519 key that signs the grants of a channel, or binds a topology. */
export const OperatorKey = Hex64.pipe(Schema.brand("OperatorKey"))
export type OperatorKey = typeof OperatorKey.Type

/** A member's X25519 static key for Noise sessions. */
export const NoiseKey = Hex64.pipe(Schema.brand("NoiseKey"))
export type NoiseKey = typeof NoiseKey.Type

/** A holder's signature over (channel, holder, Noise key). */
export const NoiseAttestation = Hex128.pipe(Schema.brand("NoiseAttestation"))
export type NoiseAttestation = typeof NoiseAttestation.Type

/** An Ed25519 signature whose meaning the field name says. */
export const Signature = Hex128.pipe(Schema.brand("Signature"))
export type Signature = typeof Signature.Type

/** An Ed25519 public key whose owner the field name says. */
export const PublicKey = Hex64.pipe(Schema.brand("PublicKey"))
export type PublicKey = typeof PublicKey.Type

const signing = patternBy((key) => !isSmallEd25519(key), "an Ed25519 key that is not of small order")
const agreeing = patternBy((key) => !isSmallX25519(key), "an X25519 key that is not of small order")

/**
 * A holder key that is stored for the first time.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { NewHolderKey } from "@catenet/domain/values/Keys"
 *
 * if (Schema.is(NewHolderKey)("00".repeat(32))) throw new Error("every party can sign for it")
 * ```
 */
export const NewHolderKey = HolderKey.check(signing)

/** An operator key that is stored for the first time. */
export const NewOperatorKey = OperatorKey.check(signing)

/** A Noise key that is stored for the first time. */
export const NewNoiseKey = NoiseKey.check(agreeing)

/** Another Ed25519 key that is stored for the first time. */
export const NewPublicKey = PublicKey.check(signing)

/** An X25519 key of one exchange, which is not kept. */
export const EphemeralKey = Hex64.check(agreeing).pipe(Schema.brand("EphemeralKey"))
export type EphemeralKey = typeof EphemeralKey.Type
