/**
 * The holder's signed statement that a Noise static key is its own on one channel (section 3). It has no expiry: it ends when the
 * member row that carries it is replaced or removed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x33))
 * const [channel, noiseKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
 * const holder = portable.ed25519.publicKey(Redacted.value(seed))
 * const signature = NoiseAttestation.sign(portable, seed, { channel, noiseKey })
 * ok(NoiseAttestation.verify(portable, { channel, holder, noiseKey }, signature))
 * ```
 */
import * as Preimage from "./Preimage.ts"
import { define, type Values } from "./SignedRecord.ts"

const fields = { channel: Preimage.fixed32, holder: Preimage.fixed32, noiseKey: Preimage.fixed32 }

/** Which Noise key belongs to which holder on which channel; 32 bytes each. */
export type NoiseAttestation = Values<typeof fields>

export const { preimage, sign, verify } = define({ domain: "ct-a2a-noise-attest-v1", signer: "holder", fields })
