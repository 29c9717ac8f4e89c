/**
 * The proof with which an account registers an agent in the directory, signed by the agent's holder key. It contains the account,
 * so that no other account can use it, and the time, so that it cannot be used late. `verify` does not check the times.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as DirectoryProof from "@catenet/crypto/DirectoryProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const listed = { subject: "ada", cardUrl: "https://a.example/", roleTags: [], skillIds: [], issuedAt: 1n, expiresAt: 2n }
 * const holder = portable.ed25519.publicKey(Redacted.value(seed))
 * const proof = DirectoryProof.sign(portable, seed, listed)
 * ok(DirectoryProof.verify(portable, { ...listed, holder }, proof))
 * ```
 */
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { define } from "./SignedRecord.ts"

const fields = {
  /** The agent: 32 bytes. */
  holder: Preimage.fixed32,
  /** The account, by its subject in normal form. */
  subject: Preimage.text,
  cardUrl: Preimage.text,
  roleTags: Preimage.listOf(Preimage.text),
  skillIds: Preimage.listOf(Preimage.text),
  /** Unix seconds. */
  issuedAt: Integer.u64le,
  /** Expiry of the card, Unix seconds. */
  expiresAt: Integer.u64le
}

export const { sign, verify } = define({ domain: "ct-agent-directory-v1", signer: "holder", fields })
