/** What settlement nodes exchange (section 8.7): one tag byte, then a transfer, a hold, a usage receipt or a refund. */
import { Data, type Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as UsageReceipt from "../market/UsageReceipt.ts"
import * as Preimage from "../Preimage.ts"
import * as Reader from "../Reader.ts"
import type { Malformed } from "../SignedRecord.ts"
import * as Hold from "./Hold.ts"
import * as Transfer from "./Transfer.ts"

/** An operation on the ledger. */
export type Operation = Data.TaggedEnum<{
  Transfer: { readonly transfer: Transfer.Transfer }
  Hold: { readonly hold: Hold.Hold }
  Usage: { readonly receipt: UsageReceipt.UsageReceipt }
  /** Gives a hold back; the match reference has 32 bytes. */
  Refund: { readonly matchRef: Uint8Array }
}>

/** The operations' constructors and matcher. */
export const Operation = Data.taggedEnum<Operation>()

/**
 * The operation's bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { encode, Operation } from "@catenet/crypto/settlement/Operation"
 *
 * strictEqual(encode(Operation.Refund({ matchRef: new Uint8Array(32) })).length, 33)
 * ```
 */
export const encode: (operation: Operation) => Uint8Array = Operation.$match({
  Transfer: ({ transfer }) => Bytes.concat(Integer.u8(0), Transfer.encode(transfer)),
  Hold: ({ hold }) => Bytes.concat(Integer.u8(1), Hold.encode(hold)),
  Usage: ({ receipt }) => Bytes.concat(Integer.u8(2), UsageReceipt.encode(receipt)),
  Refund: ({ matchRef }) => Bytes.concat(Integer.u8(3), Preimage.fixed32(matchRef))
})

/**
 * Reads one operation; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import { decode } from "@catenet/crypto/settlement/Operation"
 *
 * ok(Result.isFailure(decode(Uint8Array.of(4))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Operation, Malformed> =>
  Reader.decode("settlement operation", bytes, (reader) => {
    switch (reader.u8()) {
      case 0:
        return Operation.Transfer({ transfer: Transfer.read(reader) })
      case 1:
        return Operation.Hold({ hold: Hold.read(reader) })
      case 2:
        return Operation.Usage({ receipt: UsageReceipt.read(reader) })
      case 3:
        return Operation.Refund({ matchRef: reader.take(32) })
      default:
        return reader.fail("unknown tag")
    }
  })
