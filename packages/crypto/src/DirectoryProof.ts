/**
 * The proof with which an account registers an agent in the directory, signed by the agent's holder key. It names the account, so
 * that no other account can use it, and the time, so that it is not used late.
 */
import { Redacted } from "effect"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** What is registered, by whom. */
export interface Registration {
  /** The account, by its subject in normal form. */
  readonly subject: string
  /** The agent: 32 bytes. */
  readonly holder: Uint8Array
  readonly cardUrl: string
  readonly roleTags: ReadonlyArray<string>
  readonly skillIds: ReadonlyArray<string>
  /** Unix seconds. */
  readonly issuedAt: bigint
  /** When the card expires, Unix seconds. */
  readonly expiresAt: bigint
}

const preimage = (registration: Registration): Uint8Array =>
  Preimage.make(
    "ct-agent-directory-v1",
    Preimage.fixed32(registration.holder),
    Preimage.text(registration.subject),
    Preimage.text(registration.cardUrl),
    Preimage.list(registration.roleTags, Preimage.text),
    Preimage.list(registration.skillIds, Preimage.text),
    Integer.u64le(registration.issuedAt),
    Integer.u64le(registration.expiresAt)
  )

/**
 * The 64-byte signature, made with the holder's seed.
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
export const sign = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  registration: Omit<Registration, "holder">
): Uint8Array => {
  const seed = Redacted.value(holderSeed)
  return suite.ed25519.sign(seed, preimage({ ...registration, holder: suite.ed25519.publicKey(seed) }))
}

/**
 * Whether the holder has signed this registration. Times are for the caller to look at.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as DirectoryProof from "@catenet/crypto/DirectoryProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const holder = new Uint8Array(32).fill(1)
 * const listed = { subject: "ada", holder, cardUrl: "https://a.example/", roleTags: [], skillIds: [], issuedAt: 1n, expiresAt: 2n }
 * ok(!DirectoryProof.verify(portable, listed, new Uint8Array(64)))
 * ```
 */
export const verify = (suite: Suite, registration: Registration, proof: Uint8Array): boolean =>
  holds(suite, registration.holder, () => preimage(registration), proof)
