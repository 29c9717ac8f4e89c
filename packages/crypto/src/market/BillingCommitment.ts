/** A holder's commitment to pay up to an amount under terms, on a channel (section 8.7). It has no wire form of its own. */
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import { alive, holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

/** What is committed to; keys and hashes of 32 bytes. */
export interface BillingCommitment {
  readonly channel: Uint8Array
  readonly holder: Uint8Array
  readonly payee: Uint8Array
  readonly termsHash: Uint8Array
  readonly maxAmount: bigint
  readonly expiresAt: bigint
}

/**
 * The signed bytes; the signer is the holder.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as BillingCommitment from "@catenet/crypto/market/BillingCommitment"
 *
 * const id = new Uint8Array(32)
 * const commitment = { channel: id, holder: id, payee: id, termsHash: id, maxAmount: 100n, expiresAt: 200n }
 * strictEqual(BillingCommitment.preimage(commitment).length, 28 + 128 + 16)
 * ```
 */
export const preimage = (commitment: BillingCommitment): Uint8Array =>
  Preimage.make(
    "ct-billing-commitment-v1",
    Preimage.fixed32(commitment.channel),
    Preimage.fixed32(commitment.holder),
    Preimage.fixed32(commitment.payee),
    Preimage.fixed32(commitment.termsHash),
    Integer.u64le(commitment.maxAmount),
    Integer.u64le(commitment.expiresAt)
  )

/**
 * Whether the commitment is alive and signed by its holder.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as BillingCommitment from "@catenet/crypto/market/BillingCommitment"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(2)
 * const [id, holder] = [new Uint8Array(32), portable.ed25519.publicKey(seed)]
 * const commitment = { channel: id, holder, payee: id, termsHash: id, maxAmount: 100n, expiresAt: 200n }
 * const signature = portable.ed25519.sign(seed, BillingCommitment.preimage(commitment))
 * ok(BillingCommitment.verify(portable, commitment, signature, 199))
 * ```
 */
export const verify = (
  suite: Suite,
  commitment: BillingCommitment,
  signature: Uint8Array,
  now: Integer.Seconds
): boolean => alive(now, commitment.expiresAt) && holds(suite, commitment.holder, () => preimage(commitment), signature)
