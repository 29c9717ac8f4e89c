/** A receiver's word on what was delivered in a session (section 8.7). It has no wire form of its own. */
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import { holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

/** What was delivered; keys, hashes and the nonce of 32 bytes. */
export interface SettleReceipt {
  readonly channel: Uint8Array
  readonly receiver: Uint8Array
  readonly termsHash: Uint8Array
  readonly sessionNonce: Uint8Array
  readonly bytesDelivered: bigint
  /** SHA-256 of the delivered bytes. */
  readonly transferDigest: Uint8Array
}

/**
 * The signed bytes; the signer is the receiver.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as SettleReceipt from "@catenet/crypto/market/SettleReceipt"
 *
 * const id = new Uint8Array(32)
 * const session = { channel: id, receiver: id, termsHash: id, sessionNonce: id }
 * strictEqual(SettleReceipt.preimage({ ...session, bytesDelivered: 4096n, transferDigest: id }).length, 24 + 160 + 8)
 * ```
 */
export const preimage = (receipt: SettleReceipt): Uint8Array =>
  Preimage.make(
    "ct-settle-receipt-v1",
    Preimage.fixed32(receipt.channel),
    Preimage.fixed32(receipt.receiver),
    Preimage.fixed32(receipt.termsHash),
    Preimage.fixed32(receipt.sessionNonce),
    Integer.u64le(receipt.bytesDelivered),
    Preimage.fixed32(receipt.transferDigest)
  )

/**
 * Whether the receiver signed this receipt.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as SettleReceipt from "@catenet/crypto/market/SettleReceipt"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(2)
 * const [id, receiver] = [new Uint8Array(32), portable.ed25519.publicKey(seed)]
 * const delivered = { termsHash: id, sessionNonce: id, bytesDelivered: 4096n, transferDigest: id }
 * const receipt = { channel: id, receiver, ...delivered }
 * ok(SettleReceipt.verify(portable, receipt, portable.ed25519.sign(seed, SettleReceipt.preimage(receipt))))
 * ```
 */
export const verify = (suite: Suite, receipt: SettleReceipt, signature: Uint8Array): boolean =>
  holds(suite, receipt.receiver, () => preimage(receipt), signature)
