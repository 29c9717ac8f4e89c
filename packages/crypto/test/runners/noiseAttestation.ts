import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import { assert } from "@effect/vitest"
import { bytes, type Runners, sameHex, secret } from "./runner.ts"

const attestation = (input: any): NoiseAttestation.NoiseAttestation => ({
  channel: bytes(input.channel),
  holder: bytes(input.holder),
  noiseKey: bytes(input.noise_pubkey)
})

export const noiseAttestation: Runners = {
  bytes: ({ input, expect }) => {
    const preimage = NoiseAttestation.preimage(attestation(input))
    sameHex(preimage, expect.bytes)
    assert.strictEqual(preimage.length, expect.length)
  },
  signature: ({ input, expect }, suite) => {
    const bound = attestation(input)
    if (expect.bytes !== undefined) sameHex(NoiseAttestation.preimage(bound), expect.bytes)
    const signature = NoiseAttestation.sign(suite, secret(input.holder_seed), bound)
    sameHex(signature, expect.attestation)
    assert.strictEqual(NoiseAttestation.verify(suite, bound, signature), expect.valid)
    if (input.noise_private !== undefined) {
      sameHex(suite.x25519.publicKey(bytes(input.noise_private)), input.noise_pubkey)
    }
  },
  verify: ({ input, expect }, suite) =>
    assert.strictEqual(NoiseAttestation.verify(suite, attestation(input), bytes(input.attestation)), expect.valid)
}
