/** What was consumed under a match (section 8.7), signed by provider and consumer over the same bytes. */
import { Redacted, type Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import * as Reader from "../Reader.ts"
import { holds, type Malformed } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as Kind from "./Kind.ts"

/** The facts both sign. */
export interface Facts {
  readonly provider: Uint8Array
  readonly consumer: Uint8Array
  readonly kind: Kind.Kind
  readonly model: string
  readonly units: bigint
  readonly matchRef: Uint8Array
  readonly issuedAt: bigint
  readonly requestHash: Uint8Array
  readonly responseHash: Uint8Array
}

/** A receipt with both signatures. */
export interface UsageReceipt extends Facts {
  readonly providerSignature: Uint8Array
  readonly consumerSignature: Uint8Array
}

const fields = (facts: Facts) => [
  Preimage.fixed32(facts.provider),
  Preimage.fixed32(facts.consumer),
  Kind.bytes(facts.kind),
  Preimage.text(facts.model),
  Integer.u64le(facts.units),
  Preimage.fixed32(facts.matchRef),
  Integer.u64le(facts.issuedAt),
  Preimage.fixed32(facts.requestHash),
  Preimage.fixed32(facts.responseHash)
]

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
 *
 * const id = new Uint8Array(32)
 * const parties = { provider: id, consumer: id, kind: "LocalHardware", model: "m", units: 5n, matchRef: id }
 * const facts = { ...parties, issuedAt: 0n, requestHash: id, responseHash: id }
 * strictEqual(UsageReceipt.preimage(facts).length, 23 + 64 + 1 + 5 + 8 + 32 + 8 + 64)
 * ```
 */
export const preimage = (facts: Facts): Uint8Array => Preimage.make("ct-usage-receipt-v1", ...fields(facts))

/**
 * One party's signature.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const id = new Uint8Array(32)
 * const parties = { provider: id, consumer: id, kind: "LocalHardware", model: "m", units: 5n, matchRef: id }
 * const facts = { ...parties, issuedAt: 0n, requestHash: id, responseHash: id }
 * strictEqual(UsageReceipt.sign(portable, Redacted.make(id), facts).length, 64)
 * ```
 */
export const sign = (suite: Suite, seed: Redacted.Redacted<Uint8Array>, facts: Facts): Uint8Array =>
  suite.ed25519.sign(Redacted.value(seed), preimage(facts))

/**
 * The wire form: the fields as they are signed, then both signatures.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
 *
 * const [id, signature] = [new Uint8Array(32), new Uint8Array(64)]
 * const parties = { provider: id, consumer: id, kind: "LocalHardware", model: "m", units: 5n, matchRef: id }
 * const hashes = { issuedAt: 0n, requestHash: id, responseHash: id }
 * const receipt = { ...parties, ...hashes, providerSignature: signature, consumerSignature: signature }
 * deepStrictEqual(Result.getOrThrow(UsageReceipt.decode(UsageReceipt.encode(receipt))), receipt)
 * ```
 */
export const encode = (receipt: UsageReceipt): Uint8Array =>
  Bytes.concat(
    ...fields(receipt),
    Preimage.fixed64(receipt.providerSignature),
    Preimage.fixed64(receipt.consumerSignature)
  )

/**
 * The fields of a wire form within a longer one; `decode` is the whole.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import { decode } from "@catenet/crypto/Reader"
 * import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
 *
 * ok(Result.isFailure(decode("example", new Uint8Array(0), UsageReceipt.read)))
 * ```
 */
export const read = (reader: Reader.Reader): UsageReceipt => ({
  provider: reader.take(32),
  consumer: reader.take(32),
  kind: Kind.fromTag(reader.u8()) ?? reader.fail("unknown kind of capacity"),
  model: reader.text(),
  units: reader.u64le(),
  matchRef: reader.take(32),
  issuedAt: reader.u64le(),
  requestHash: reader.take(32),
  responseHash: reader.take(32),
  providerSignature: reader.take(64),
  consumerSignature: reader.take(64)
})

/**
 * Reads a wire form; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
 *
 * ok(Result.isFailure(UsageReceipt.decode(new Uint8Array(10))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<UsageReceipt, Malformed> =>
  Reader.decode("usage receipt", bytes, read)

/**
 * Whether both parties signed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as UsageReceipt from "@catenet/crypto/market/UsageReceipt"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(1))
 * const [party, id] = [portable.ed25519.publicKey(Redacted.value(seed)), new Uint8Array(32)]
 * const parties = { provider: party, consumer: party, kind: "LocalHardware", model: "m", units: 5n, matchRef: id }
 * const facts = { ...parties, issuedAt: 0n, requestHash: id, responseHash: id }
 * const signature = UsageReceipt.sign(portable, seed, facts)
 * ok(UsageReceipt.verify(portable, { ...facts, providerSignature: signature, consumerSignature: signature }))
 * ```
 */
export const verify = (suite: Suite, receipt: UsageReceipt): boolean =>
  holds(suite, receipt.provider, () => preimage(receipt), receipt.providerSignature) &&
  holds(suite, receipt.consumer, () => preimage(receipt), receipt.consumerSignature)
