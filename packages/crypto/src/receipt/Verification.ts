/**
 * Verifies a run of receipts against the edge's key (section 14.4): a whole chain, or a segment that may be tied to an
 * earlier export by its anchor. The error names the first receipt that fails.
 */
import { Data, Option, Record, Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Hex from "../Hex.ts"
import type { Suite } from "../Suite.ts"
import * as Receipt from "./Receipt.ts"

/** The check that failed first. */
export type Reason =
  "BadPubkey" | "Malformed" | "SeqGap" | "BrokenLink" | "EdgeIdMismatch" | "HashMismatch" | "BadSignature"

/** The receipts do not verify. Without `seq` it is the key itself. */
export class ReceiptsInvalid extends Data.TaggedError("ReceiptsInvalid")<{
  readonly reason: Reason
  readonly seq?: bigint
  /** Of a gap: the number that should have followed. */
  readonly expected?: bigint
  /** Of a malformed receipt: the field. */
  readonly field?: "prev_hash" | "hash" | "sig"
}> {
  override get message() {
    if (this.seq === undefined) return "the public key is unusable"
    if (this.expected !== undefined) return `receipt ${this.seq} where ${this.expected} should follow`
    return `receipt ${this.seq}: ${this.reason}${this.field === undefined ? "" : ` (${this.field})`}`
  }
}

/** What a verified run of receipts adds up to. */
export interface Summary {
  readonly count: number
  readonly first: Receipt.Receipt | undefined
  readonly last: Receipt.Receipt | undefined
  /** Whether it starts with the chain's first receipt. */
  readonly fromGenesis: boolean
  readonly opened: number
  readonly closed: number
  /** Summed over closed sessions only. */
  readonly bytesIn: bigint
  readonly bytesOut: bigint
}

const total = (receipts: ReadonlyArray<Receipt.Receipt>, key: string): bigint =>
  receipts.reduce((sum, receipt) => {
    const value = Option.getOrUndefined(Record.get(receipt.payload, key))
    return typeof value === "bigint" ? sum + value : sum
  }, 0n)

const summarize = (receipts: ReadonlyArray<Receipt.Receipt>): Summary => {
  const closed = receipts.filter((receipt) => receipt.kind === "session_close")
  return {
    count: receipts.length,
    first: receipts[0],
    last: receipts.at(-1),
    fromGenesis: receipts[0]?.seq === 1n,
    opened: receipts.filter((receipt) => receipt.kind === "session_open").length,
    closed: closed.length,
    bytesIn: total(closed, "bytes_in"),
    bytesOut: total(closed, "bytes_out")
  }
}

const startsWell = (receipt: Receipt.Receipt, anchor: string | undefined): boolean => {
  if (anchor !== undefined) return receipt.prevHash.toLowerCase() === anchor.toLowerCase()
  return receipt.seq !== 1n || receipt.prevHash === Receipt.genesisHash
}

/**
 * Checks receipts in the order given, each against the one before it, and sums them up. `anchor` is the hash that must
 * come before the first one: the last hash of an export verified earlier. No receipts at all are fine.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 * import * as Verification from "@catenet/crypto/receipt/Verification"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x42))
 * const edgeKey = portable.ed25519.publicKey(Redacted.value(seed))
 * const chain = { edgeId: "primary", routingTokenHash: "00".repeat(32) }
 * const open = Receipt.sessionOpen({ connectedAt: 1000n, transport: "quic" })
 * const first = Result.getOrThrow(Receipt.append(portable, seed, chain, Receipt.genesis, 1000n, open))
 * const forged = { ...first, ts: 1001n }
 * deepStrictEqual(
 *   [first, forged].map((receipt) => Result.isSuccess(Verification.verify(portable, edgeKey, [receipt]))),
 *   [true, false]
 * )
 * ```
 */
export const verify = (
  suite: Suite,
  edgeKey: Uint8Array,
  receipts: ReadonlyArray<Receipt.Receipt>,
  anchor?: string
): Result.Result<Summary, ReceiptsInvalid> => {
  if (!suite.ed25519.isPublicKey(edgeKey)) return Result.fail(new ReceiptsInvalid({ reason: "BadPubkey" }))
  let previous: Receipt.Receipt | undefined
  for (const receipt of receipts) {
    const { seq } = receipt
    const invalid = (reason: Reason) => Result.fail(new ReceiptsInvalid({ reason, seq }))
    const malformed = (field: "prev_hash" | "hash" | "sig") =>
      Result.fail(new ReceiptsInvalid({ reason: "Malformed", seq, field }))
    if (Result.isFailure(Hex.decode(receipt.prevHash, 32))) return malformed("prev_hash")
    const hash = Hex.decode(receipt.hash, 32)
    if (Result.isFailure(hash)) return malformed("hash")
    const signature = Hex.decode(receipt.sig, 64)
    if (Result.isFailure(signature)) return malformed("sig")
    if (previous === undefined) {
      if (!startsWell(receipt, anchor)) return invalid("BrokenLink")
    } else {
      const expected = previous.seq + 1n
      if (seq !== expected) return Result.fail(new ReceiptsInvalid({ reason: "SeqGap", seq, expected }))
      if (receipt.prevHash !== previous.hash) return invalid("BrokenLink")
      if (receipt.edgeId !== previous.edgeId) return invalid("EdgeIdMismatch")
    }
    const computed = Receipt.contentHash(suite, receipt)
    if (Result.isFailure(computed) || !Bytes.equal(computed.success, hash.success)) return invalid("HashMismatch")
    if (!suite.ed25519.verifyLenient(edgeKey, hash.success, signature.success)) return invalid("BadSignature")
    previous = receipt
  }
  return Result.succeed(summarize(receipts))
}
