/**
 * The proof that the holder of a key claims a membership for an account, signed by the holder's key. The attestation in a claim is
 * known to the holder's peers too; without this proof, a peer could claim the membership for another account. It is not part of
 * the published protocol: the reference implementation claims without a proof.
 */
import { Redacted } from "effect"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** Which account claims which membership. */
export interface Claiming {
  /** The channel: 32 bytes. */
  readonly channel: Uint8Array
  /** The holder's key: 32 bytes. */
  readonly holder: Uint8Array
  /** The account, by its subject in normal form. */
  readonly subject: string
}

const preimage = ({ channel, holder, subject }: Claiming): Uint8Array =>
  Preimage.make("ct-channel-claim-v1", Preimage.fixed32(channel), Preimage.fixed32(holder), Preimage.text(subject))

/**
 * The 64-byte proof, made with the holder's seed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as ClaimProof from "@catenet/crypto/ClaimProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const holder = portable.ed25519.publicKey(Redacted.value(seed))
 * const channel = new Uint8Array(32).fill(1)
 * const proof = ClaimProof.sign(portable, seed, { channel, subject: "ada" })
 * ok(ClaimProof.verify(portable, { channel, holder, subject: "ada" }, proof))
 * ```
 */
export const sign = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  claiming: Omit<Claiming, "holder">
): Uint8Array => {
  const seed = Redacted.value(holderSeed)
  return suite.ed25519.sign(seed, preimage({ ...claiming, holder: suite.ed25519.publicKey(seed) }))
}

/**
 * Whether the holder claims the membership for this account.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as ClaimProof from "@catenet/crypto/ClaimProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = new Uint8Array(32).fill(1)
 * ok(!ClaimProof.verify(portable, { channel: key, holder: key, subject: "ada" }, new Uint8Array(64)))
 * ```
 */
export const verify = (suite: Suite, claiming: Claiming, proof: Uint8Array): boolean =>
  holds(suite, claiming.holder, () => preimage(claiming), proof)
