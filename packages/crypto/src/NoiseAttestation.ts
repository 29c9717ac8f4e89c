/**
 * The holder's signed statement that a Noise static key is its own on one channel (section 3). It has no expiry: it ends when the
 * member row that carries it is replaced or removed.
 */
import { Redacted } from "effect"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** Which Noise key belongs to which holder on which channel; 32 bytes each. */
export interface NoiseAttestation {
  readonly channel: Uint8Array
  readonly holder: Uint8Array
  readonly noiseKey: Uint8Array
}

/**
 * The signed bytes, 122 of them.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
 *
 * const key = new Uint8Array(32)
 * strictEqual(NoiseAttestation.preimage({ channel: key, holder: key, noiseKey: key }).length, 122)
 * ```
 */
export const preimage = (attestation: NoiseAttestation): Uint8Array =>
  Preimage.make(
    "ct-a2a-noise-attest-v1",
    Preimage.fixed32(attestation.channel),
    Preimage.fixed32(attestation.holder),
    Preimage.fixed32(attestation.noiseKey)
  )

/**
 * The 64-byte attestation, made with the holder's seed.
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
export const sign = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  bound: Pick<NoiseAttestation, "channel" | "noiseKey">
): Uint8Array => {
  const seed = Redacted.value(holderSeed)
  return suite.ed25519.sign(seed, preimage({ ...bound, holder: suite.ed25519.publicKey(seed) }))
}

/**
 * Whether the holder attested this Noise key for this channel.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = new Uint8Array(32)
 * ok(!NoiseAttestation.verify(portable, { channel: key, holder: key, noiseKey: key }, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (suite: Suite, attestation: NoiseAttestation, signature: Uint8Array): boolean =>
  holds(suite, attestation.holder, () => preimage(attestation), signature)
