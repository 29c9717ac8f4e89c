/** Members for tests: keys and attestations made of one digit each. */
import { MemberMaterial } from "@catenet/domain/channels/Channel"
import { Schema } from "effect"

export const materialOf = (holder: string, noise = "6", attestation = "a"): MemberMaterial =>
  Schema.decodeSync(MemberMaterial)({
    holder: holder.repeat(64),
    noise_pubkey: noise.repeat(64),
    noise_attestation: attestation.repeat(128)
  })
