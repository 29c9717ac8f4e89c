/** Parties to channels for tests: each is made from a word, so are its keys, and it signs what it is asked to. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as Redemption from "@catenet/crypto/Redemption"
import { Redacted, Result } from "effect"

const bytesOf = (hex: string) => Result.getOrThrow(Hex.decode(hex))
/** The seed of a party. */
export const seedOf = (word: string) => Redacted.make(native.sha256(Bytes.fromText(word)))
const permission = { direction: "both", rights: "rw", delegable: false } as const

/** The Ed25519 key of a party, 64 hex. */
export const keyOf = (word: string) => Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(word))))

/** Any 64 hex that belong to a word: a channel chosen by hand, a nonce that was never issued. */
export const idOf = (word: string) => Hex.encode(native.sha256(Bytes.fromText(`id ${word}`)))

/** The channel of two parties under an operator. */
export const linkOf = (operator: string, a: string, b: string) =>
  Hex.encode(ChannelIds.link(native, bytesOf(keyOf(operator)), bytesOf(keyOf(a)), bytesOf(keyOf(b))))

/** What a party presents to become a member; another `session` word gives it another Noise key. */
export const materialOf = (channel: string, word: string, session = word) => {
  const noiseKey = native.x25519.publicKey(native.sha256(Bytes.fromText(`noise ${session}`)))
  return {
    holder: keyOf(word),
    noise_pubkey: Hex.encode(noiseKey),
    noise_attestation: Hex.encode(NoiseAttestation.sign(native, seedOf(word), { channel: bytesOf(channel), noiseKey }))
  }
}

/** A grant, 278 hex. */
export const grantBy = (operator: string, channel: string, holder: string, expiresAt = 4_000_000_000n) =>
  Grant.toHex(
    Grant.sign(native, seedOf(operator), {
      ...permission,
      expiresAt,
      channel: bytesOf(channel),
      holder: bytesOf(keyOf(holder))
    })
  )

/** An invitation, 278 hex. Each expiry gives another one. */
export const invitationBy = (operator: string, channel: string, invitee: string, expiresAt = 4_000_000_000n) =>
  Invitation.toHex(
    Invitation.sign(native, seedOf(operator), {
      ...permission,
      expiresAt,
      channel: bytesOf(channel),
      invitee: bytesOf(keyOf(invitee))
    })
  )

/** The body of a redemption of such an invitation. */
export const redemptionOf = (
  invitation: string,
  parties: { readonly channel: string; readonly invitee: string; readonly holder: string },
  challenge?: string
) => {
  const { channel, holder, invitee } = parties
  const redeem_sig = Redemption.sign(native, seedOf(invitee), {
    channel: bytesOf(channel),
    invitee: bytesOf(keyOf(invitee)),
    holder: bytesOf(keyOf(holder)),
    challenge: challenge === undefined ? undefined : bytesOf(challenge)
  })
  return {
    invitation,
    redeem_sig: Hex.encode(redeem_sig),
    ...materialOf(channel, holder),
    ...(challenge === undefined ? {} : { challenge })
  }
}
