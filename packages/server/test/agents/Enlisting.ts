/** Registrations of agents in the directory by accounts, with the proof of their holder keys. */
import * as DirectoryProof from "@catenet/crypto/DirectoryProof"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { keyOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"

export const nowSeconds = () => Math.floor(Date.now() / 1000)

interface Facts {
  readonly card_url: string
  readonly role_tags: ReadonlyArray<string>
  readonly skill_ids: ReadonlyArray<string>
  readonly issued_at: number
  readonly expires_at: number
}

/** What the holder that is made from this word signs for an account. */
export const enlistedBy = (subject: string, word: string, facts: Partial<Facts> = {}) => {
  const issued_at = nowSeconds()
  const registered: Facts = {
    card_url: "https://agent.example/.well-known/agent-card.json",
    role_tags: ["art"],
    skill_ids: ["paint"],
    issued_at,
    expires_at: issued_at + 86_400,
    ...facts
  }
  const proof = DirectoryProof.sign(native, seedOf(word), {
    subject,
    cardUrl: registered.card_url,
    roleTags: registered.role_tags,
    skillIds: registered.skill_ids,
    issuedAt: BigInt(registered.issued_at),
    expiresAt: BigInt(registered.expires_at)
  })
  return { holder_pubkey: keyOf(word), ...registered, proof: Hex.encode(proof) }
}
