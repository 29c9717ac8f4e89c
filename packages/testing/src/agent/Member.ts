/** A channel with two members, and the variables of each as an operator would set them. */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import type { Direction, Rights } from "@catenet/crypto/Permission"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"

export interface Member {
  readonly holderSeed: Uint8Array
  readonly holder: Uint8Array
  readonly noiseSecret: Uint8Array
  readonly noiseKey: Uint8Array
  readonly attestation: Uint8Array
  readonly grant: string
  readonly env: Readonly<Record<string, string>>
}

export interface Channel {
  readonly operatorSeed: Uint8Array
  readonly operator: Uint8Array
  readonly channel: Uint8Array
  member(
    direction: Direction,
    options?: { readonly rights?: Rights; readonly expiresAt?: bigint; readonly holderSeed?: Uint8Array }
  ): Member
}

/** Far enough for every test, and the same in every run. */
export const farFuture = 4_102_444_800n

export const makeChannel = (): Channel => {
  const operatorSeed = new Uint8Array(randomBytes(32))
  const channel = new Uint8Array(randomBytes(32))
  return {
    operatorSeed,
    operator: native.ed25519.publicKey(operatorSeed),
    channel,
    member: (
      direction,
      { expiresAt = farFuture, holderSeed = new Uint8Array(randomBytes(32)), rights = "rw" } = {}
    ) => {
      const noiseSecret = new Uint8Array(randomBytes(32))
      const holder = native.ed25519.publicKey(holderSeed)
      const noiseKey = native.x25519.publicKey(noiseSecret)
      const grant = Grant.toHex(
        Grant.sign(native, Redacted.make(operatorSeed), {
          channel,
          holder,
          direction,
          rights,
          delegable: false,
          expiresAt
        })
      )
      return {
        holderSeed,
        holder,
        noiseSecret,
        noiseKey,
        attestation: NoiseAttestation.sign(native, Redacted.make(holderSeed), { channel, noiseKey }),
        grant,
        env: {
          CT_CHANNEL_ROLE: direction === "accept" ? "accept" : "initiate",
          CT_CHANNEL_GRANT: grant,
          CT_CHANNEL_HOLDER_KEY: Hex.encode(holderSeed),
          CT_CHANNEL_NOISE_KEY: Hex.encode(noiseSecret)
        }
      }
    }
  }
}
