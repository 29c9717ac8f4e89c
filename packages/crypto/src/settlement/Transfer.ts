/** A signed transfer of the settlement ledger (section 8.7). Its nonces count from 0 per sender, without gaps. */
import { Redacted, type Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import * as Reader from "../Reader.ts"
import { holds, type Malformed } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

/** What is to move; the keys have 32 bytes. */
export interface Order {
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly amount: bigint
  readonly nonce: bigint
}

/** A signed transfer. */
export interface Transfer extends Order {
  readonly signature: Uint8Array
}

/** Bytes of the wire form. */
export const wireLength = 144

const fields = (order: Order) => [
  Preimage.fixed32(order.from),
  Preimage.fixed32(order.to),
  Integer.u64le(order.amount),
  Integer.u64le(order.nonce)
]

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Transfer from "@catenet/crypto/settlement/Transfer"
 *
 * const key = new Uint8Array(32)
 * strictEqual(Transfer.preimage({ from: key, to: key, amount: 7n, nonce: 9n }).length, 29 + 80)
 * ```
 */
export const preimage = (order: Order): Uint8Array => Preimage.make("ct-settlement-transfer-v1", ...fields(order))

/**
 * Signs an order; the sender is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Transfer from "@catenet/crypto/settlement/Transfer"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const order = { to: new Uint8Array(32), amount: 30n, nonce: 0n }
 * const transfer = Transfer.sign(portable, Redacted.make(new Uint8Array(32).fill(1)), order)
 * ok(Transfer.verify(portable, transfer) && !Transfer.verify(portable, { ...transfer, amount: 31n }))
 * ```
 */
export const sign = (suite: Suite, senderSeed: Redacted.Redacted<Uint8Array>, order: Omit<Order, "from">): Transfer => {
  const seed = Redacted.value(senderSeed)
  const full = { ...order, from: suite.ed25519.publicKey(seed) }
  return { ...full, signature: suite.ed25519.sign(seed, preimage(full)) }
}

/**
 * The 144 wire bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Transfer from "@catenet/crypto/settlement/Transfer"
 *
 * const [key, signature] = [new Uint8Array(32), new Uint8Array(64)]
 * strictEqual(Transfer.encode({ from: key, to: key, amount: 7n, nonce: 9n, signature }).length, Transfer.wireLength)
 * ```
 */
export const encode = (transfer: Transfer): Uint8Array =>
  Bytes.concat(...fields(transfer), Preimage.fixed64(transfer.signature))

/**
 * The fields of a transfer within a longer record.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { decode } from "@catenet/crypto/Reader"
 * import * as Transfer from "@catenet/crypto/settlement/Transfer"
 *
 * strictEqual(Result.getOrThrow(decode("example", new Uint8Array(144), Transfer.read)).amount, 0n)
 * ```
 */
export const read = (reader: Reader.Reader): Transfer => ({
  from: reader.take(32),
  to: reader.take(32),
  amount: reader.u64le(),
  nonce: reader.u64le(),
  signature: reader.take(64)
})

/**
 * Reads exactly 144 bytes; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Transfer from "@catenet/crypto/settlement/Transfer"
 *
 * ok(Result.isFailure(Transfer.decode(new Uint8Array(143))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Transfer, Malformed> => Reader.decode("transfer", bytes, read)

/**
 * Whether the sender signed this transfer.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Transfer from "@catenet/crypto/settlement/Transfer"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(!Transfer.verify(portable, Result.getOrThrow(Transfer.decode(new Uint8Array(144).fill(1)))))
 * ```
 */
export const verify = (suite: Suite, transfer: Transfer): boolean =>
  holds(suite, transfer.from, () => preimage(transfer), transfer.signature)
