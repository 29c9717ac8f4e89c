/** Public keys and signatures as the platform names them. Each is hex of a fixed length; none is a secret. */
import { Schema } from "effect"
import { Hex128, Hex64 } from "./Hex.ts"

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
