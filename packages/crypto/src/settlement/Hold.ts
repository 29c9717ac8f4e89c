/** A signed hold of the settlement ledger (section 8.7): an amount set aside for a match until a time. */
import { Redacted, type Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import * as Reader from "../Reader.ts"
import { holds, type Malformed } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

/** What is to be held; keys and the match reference have 32 bytes. */
export interface Order {
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly amount: bigint
  readonly matchRef: Uint8Array
  readonly nonce: bigint
  readonly expiresAt: bigint
}

/** A signed hold. */
export interface Hold extends Order {
  readonly signature: Uint8Array
}

/** Bytes of the wire form. */
export const wireLength = 184

const fields = (order: Order) => [
  Preimage.fixed32(order.from),
  Preimage.fixed32(order.to),
  Integer.u64le(order.amount),
  Preimage.fixed32(order.matchRef),
  Integer.u64le(order.nonce),
  Integer.u64le(order.expiresAt)
]

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hold from "@catenet/crypto/settlement/Hold"
 *
 * const key = new Uint8Array(32)
 * const order = { from: key, to: key, amount: 7n, matchRef: key, nonce: 9n, expiresAt: 11n }
 * strictEqual(Hold.preimage(order).length, 25 + 120)
 * ```
 */
export const preimage = (order: Order): Uint8Array => Preimage.make("ct-settlement-hold-v1", ...fields(order))

/**
 * Signs an order; the sender is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Hold from "@catenet/crypto/settlement/Hold"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = new Uint8Array(32)
 * const order = { to: key, amount: 30n, matchRef: key, nonce: 0n, expiresAt: 500n }
 * const hold = Hold.sign(portable, Redacted.make(new Uint8Array(32).fill(1)), order)
 * ok(Hold.verify(portable, hold) && !Hold.verify(portable, { ...hold, expiresAt: 501n }))
 * ```
 */
export const sign = (suite: Suite, senderSeed: Redacted.Redacted<Uint8Array>, order: Omit<Order, "from">): Hold => {
  const seed = Redacted.value(senderSeed)
  const full = { ...order, from: suite.ed25519.publicKey(seed) }
  return { ...full, signature: suite.ed25519.sign(seed, preimage(full)) }
}

/**
 * The 184 wire bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hold from "@catenet/crypto/settlement/Hold"
 *
 * const [key, signature] = [new Uint8Array(32), new Uint8Array(64)]
 * const order = { from: key, to: key, amount: 7n, matchRef: key, nonce: 9n, expiresAt: 11n }
 * strictEqual(Hold.encode({ ...order, signature }).length, Hold.wireLength)
 * ```
 */
export const encode = (hold: Hold): Uint8Array => Bytes.concat(...fields(hold), Preimage.fixed64(hold.signature))

/**
 * The fields of a hold within a longer record.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { decode } from "@catenet/crypto/Reader"
 * import * as Hold from "@catenet/crypto/settlement/Hold"
 *
 * strictEqual(Result.getOrThrow(decode("example", new Uint8Array(184), Hold.read)).nonce, 0n)
 * ```
 */
export const read = (reader: Reader.Reader): Hold => ({
  from: reader.take(32),
  to: reader.take(32),
  amount: reader.u64le(),
  matchRef: reader.take(32),
  nonce: reader.u64le(),
  expiresAt: reader.u64le(),
  signature: reader.take(64)
})

/**
 * Reads exactly 184 bytes; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Hold from "@catenet/crypto/settlement/Hold"
 *
 * ok(Result.isFailure(Hold.decode(new Uint8Array(185))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Hold, Malformed> => Reader.decode("hold", bytes, read)

/**
 * Whether the sender signed this hold. Its expiry is the ledger's to judge.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Hold from "@catenet/crypto/settlement/Hold"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(!Hold.verify(portable, Result.getOrThrow(Hold.decode(new Uint8Array(184).fill(1)))))
 * ```
 */
export const verify = (suite: Suite, hold: Hold): boolean =>
  holds(suite, hold.from, () => preimage(hold), hold.signature)
