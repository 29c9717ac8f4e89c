/**
 * Public keys and signatures as the platform names them. Each is hex of a fixed length; none is a secret.
 *
 * A request that stores a key for the first time takes one of the `New` schemas, which refuse points of small order.
 * Rows, answers and look-ups take the others, so that a key which an earlier release stored can be read and removed.
 */
import { Schema } from "effect"
import { Hex128, Hex64 } from "./Hex.ts"
import { patternBy } from "./Pattern.ts"
import { isSmallEd25519, isSmallX25519 } from "./SmallOrder.ts"

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
