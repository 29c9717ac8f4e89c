/**
 * The export of a tunnel's receipts (section 14.3): a header line, then one receipt per line, ascending, with a newline
 * after every line. Blank lines are skipped when read.
 */
import { Data, Result, Schema } from "effect"
import * as Hex from "../Hex.ts"
import * as JsonField from "../JsonField.ts"
import type { Suite } from "../Suite.ts"
import * as Receipt from "./Receipt.ts"
import * as Verification from "./Verification.ts"

const HeaderLine = Schema.Struct({
  pubkey: JsonField.Text,
  edgeId: JsonField.Text,
  tunnel: Schema.optionalKey(JsonField.Text),
  // A page of the edge's admin interface has its receipts in one line with the header: they would not be looked at.
  receipts: Schema.optionalKey(Schema.Never)
}).pipe(Schema.encodeKeys({ edgeId: "edge_id" }))

/** The header: the edge's key as text, its id, and perhaps the tunnel's display name. */
export type Header = typeof HeaderLine.Type

/** A parsed export; nothing is verified. */
export interface Export {
  readonly header: Header
  readonly receipts: ReadonlyArray<Receipt.Receipt>
}

/** The file is no export. `line` counts from 1, blank lines included. */
export class NotAnExport extends Data.TaggedError("NotAnExport")<{
  readonly reason: "Empty" | "BadHeader" | "BadReceipt"
  readonly line?: number
}> {
  override get message() {
    if (this.reason === "Empty") return "the file is empty"
    return this.reason === "BadHeader" ? "the first line is no header" : `line ${this.line} is no receipt`
  }
}

const header = JsonField.form("export header", HeaderLine)

/**
 * The export as text.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Export from "@catenet/crypto/receipt/Export"
 *
 * const text = Export.write({ header: { pubkey: "00", edgeId: "primary", tunnel: "demo" }, receipts: [] })
 * strictEqual(text, '{"pubkey":"00","edge_id":"primary","tunnel":"demo"}\n')
 * ```
 */
export const write = (written: Export): string =>
  [header.write(written.header), ...written.receipts.map(Receipt.json.write)].map((line) => `${line}\n`).join("")

/**
 * Reads an export.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Export from "@catenet/crypto/receipt/Export"
 *
 * strictEqual(Result.getOrThrow(Export.parse('\n{"pubkey":"00","edge_id":"primary"}\n')).receipts.length, 0)
 * strictEqual(Result.getOrThrow(Result.flip(Export.parse("{}\n"))).reason, "BadHeader")
 * ```
 */
export const parse = (text: string): Result.Result<Export, NotAnExport> => {
  const [first, ...rest] = text
    .split("\n")
    .map((content, i) => ({ content: content.trim(), line: i + 1 }))
    .filter(({ content }) => content !== "")
  if (first === undefined) return Result.fail(new NotAnExport({ reason: "Empty" }))
  const head = header.parse(first.content)
  if (Result.isFailure(head)) return Result.fail(new NotAnExport({ reason: "BadHeader", line: first.line }))
  const receipts: Array<Receipt.Receipt> = []
  for (const { content, line } of rest) {
    const receipt = Receipt.json.parse(content)
    if (Result.isFailure(receipt)) return Result.fail(new NotAnExport({ reason: "BadReceipt", line }))
    receipts.push(receipt.success)
  }
  return Result.succeed({ header: head.success, receipts })
}

/**
 * The exports in a file of several edges, each from its header line on: a line without a `seq` begins the next one. Anything that
 * is not an export is left for `parse` to refuse.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Export from "@catenet/crypto/receipt/Export"
 *
 * const header = (edge: string) => `{"pubkey":"00","edge_id":"${edge}"}\n`
 * deepStrictEqual(Export.split(header("a") + header("b")), [header("a"), header("b")])
 * deepStrictEqual(Export.split(""), [""])
 * ```
 */
export const split = (text: string): ReadonlyArray<string> => {
  const parts: Array<Array<string>> = []
  for (const line of text.split(/(?<=\n)/u)) {
    const isHeader = line.trim() !== "" && Result.isSuccess(header.parse(line.trim()))
    const current = parts.at(-1)
    if (current === undefined || (isHeader && current.some((earlier) => earlier.trim() !== ""))) parts.push([line])
    else current.push(line)
  }
  return parts.map((lines) => lines.join(""))
}

/**
 * Verifies an export under an edge's key that is known from elsewhere. `anchor` is the hash before its first receipt.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Export from "@catenet/crypto/receipt/Export"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const empty = { header: { pubkey: "zz", edgeId: "primary" }, receipts: [] }
 * const edgeKey = portable.ed25519.publicKey(new Uint8Array(32).fill(0x42))
 * strictEqual(Result.getOrThrow(Export.verify(portable, empty, edgeKey)).count, 0)
 * ```
 */
export const verify = (
  suite: Suite,
  exported: Export,
  edgeKey: Uint8Array,
  anchor?: string
): Result.Result<Verification.Summary, Verification.ReceiptsInvalid> =>
  Verification.verify(suite, edgeKey, exported.receipts, anchor)

/**
 * Verifies an export under the key that its own header names: the file is whole, whichever edge wrote it.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Export from "@catenet/crypto/receipt/Export"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const empty = { header: { pubkey: "zz", edgeId: "primary" }, receipts: [] }
 * strictEqual(Result.getOrThrow(Result.flip(Export.verifyUnderOwnKey(portable, empty))).reason, "BadPubkey")
 * ```
 */
export const verifyUnderOwnKey = (
  suite: Suite,
  exported: Export,
  anchor?: string
): Result.Result<Verification.Summary, Verification.ReceiptsInvalid> => {
  const edgeKey = Result.getOrElse(Hex.decode(exported.header.pubkey, 32), () => new Uint8Array(0))
  return verify(suite, exported, edgeKey, anchor)
}
