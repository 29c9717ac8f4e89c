/** Whether a member's own statement holds: its holder key attests its Noise key for this channel. */
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import type { ChannelId, MemberMaterial } from "@catenet/domain/channels/Channel"
import { bytesOf } from "../runtime/TokenSecrets.ts"

export const holds = (
  channel: ChannelId,
  material: Pick<MemberMaterial, "holder" | "noise_pubkey" | "noise_attestation">
) =>
  NoiseAttestation.verify(
    native,
    { channel: bytesOf(channel), holder: bytesOf(material.holder), noiseKey: bytesOf(material.noise_pubkey) },
    bytesOf(material.noise_attestation)
  )
