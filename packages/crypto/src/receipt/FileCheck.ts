/**
 * Checks a file of receipts and reports in sentences, for `catenet receipts verify` and for the page that verifies in a browser.
 * The caller reads the file.
 */
import { Option, Result } from "effect"
import * as Hex from "../Hex.ts"
import type { Suite } from "../Suite.ts"
import * as Export from "./Export.ts"
import type { Summary } from "./Verification.ts"

/** Bytes of the largest file that is checked: receipts of half a million events, which fit in memory at once. */
export const largestFile = 256 * 1024 * 1024

export interface FileVerdict {
  /** `unusable`: the file is not an export, or the key or the anchor is malformed. */
  readonly outcome: "verified" | "refused" | "unusable"
  /** A report of each export of the file that holds, then, unless all do, the sentence about the first that does not. */
  readonly lines: ReadonlyArray<string>
}

export interface CheckedFile {
  /** Name of the file, for the sentences. */
  readonly name: string
  readonly bytes: Uint8Array
  /** The edge's public key, as hex; without it the key that the file itself names is believed. */
  readonly key?: string | undefined
  /** The hash of the receipt before the first one, as hex. */
  readonly anchor?: string | undefined
}

const unusable = (sentence: string): FileVerdict => ({ outcome: "unusable", lines: [sentence] })

/**
 * The verdict on a file that could not be read.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as FileCheck from "@catenet/crypto/receipt/FileCheck"
 *
 * deepStrictEqual(FileCheck.unreadable("a", new Error("no such file")).lines, [
 *   "a cannot be read (no such file); name a file that is there and that you can read."
 * ])
 * ```
 */
export const unreadable = (name: string, cause: unknown): FileVerdict =>
  unusable(
    `${name} cannot be read (${cause instanceof Error ? cause.message : String(cause)}); name a file that is there and that you can read.`
  )

/**
 * The verdict on a file that is too large to be read at all.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as FileCheck from "@catenet/crypto/receipt/FileCheck"
 *
 * const most = 256 * 1024 * 1024
 * strictEqual(FileCheck.oversized("a", most), undefined)
 * strictEqual(FileCheck.oversized("a", most + 1)?.outcome, "unusable")
 * ```
 */
export const oversized = (name: string, size: number): FileVerdict | undefined =>
  size <= largestFile
    ? undefined
    : unusable(`${name} is larger than ${largestFile / 1024 / 1024} MB; export fewer receipts at once by "since".`)

const time = (seconds: bigint) => {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? `second ${seconds}` : date.toISOString()
}

/** Names come from the file: escaped, so that a terminal does not interpret them. */
const shown = (name: string) => name.replaceAll(/\p{C}/gu, "\ufffd")

/** The header of a file is not signed, so the edge's name is taken from the receipts. */
const report = ({ header }: Export.Export, summary: Summary): string => {
  const { bytesIn, bytesOut, closed, count, first, fromGenesis, last, opened } = summary
  if (first === undefined || last === undefined) return "The receipts verify: there are none."
  return [
    `The receipts verify: ${count} of edge ${shown(first.edgeId)}.`,
    ...(header.tunnel === undefined ? [] : [`  tunnel     ${shown(header.tunnel)}, as the file calls it`]),
    `  receipts   ${first.seq} (${time(first.ts)}) to ${last.seq} (${time(last.ts)})`,
    `  begins     ${fromGenesis ? "with the first receipt of the chain" : `behind ${first.prevHash}`}`,
    `  ends at    ${last.hash}`,
    `  sessions   ${opened} opened, ${closed} closed`,
    `  bytes      ${bytesIn} to the tunnel, ${bytesOut} from it, in closed sessions`
  ].join("\n")
}

/** 32 bytes as hex, or nothing if none was given. */
const hash = (text: string | undefined): Option.Option<string | undefined> => {
  if (text === undefined) return Option.some(undefined)
  return Option.map(Result.getSuccess(Hex.decode(text.trim(), 32)), Hex.encode)
}

/**
 * Checks a file of one or several exports: every signature, every link of the chains, no gap and no fork.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as FileCheck from "@catenet/crypto/receipt/FileCheck"
 * import { portable } from "@catenet/crypto/portable"
 *
 * deepStrictEqual(FileCheck.check(portable, { name: "a.jsonl", bytes: new Uint8Array() }), {
 *   outcome: "unusable",
 *   lines: ["a.jsonl is no export of receipts: the file is empty."]
 * })
 * ```
 */
export const check = (suite: Suite, { anchor, bytes, key, name }: CheckedFile): FileVerdict => {
  const tooMuch = oversized(name, bytes.length)
  if (tooMuch !== undefined) return tooMuch
  const edgeKey = hash(key)
  if (Option.isNone(edgeKey)) return unusable("A key (--key) is 64 hexadecimal digits.")
  const before = hash(anchor)
  if (Option.isNone(before)) return unusable("An anchor (--anchor) is 64 hexadecimal digits.")
  const lines: Array<string> = []
  for (const part of Export.split(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))) {
    const exported = Export.parse(part)
    if (Result.isFailure(exported)) {
      lines.push(`${name} is no export of receipts: ${exported.failure.message}.`)
      return { outcome: "unusable", lines }
    }
    const verdict =
      edgeKey.value === undefined
        ? Export.verifyUnderOwnKey(suite, exported.success, before.value)
        : Export.verify(suite, exported.success, Result.getOrThrow(Hex.decode(edgeKey.value, 32)), before.value)
    if (Result.isFailure(verdict)) {
      lines.push(`The receipts do not verify: ${verdict.failure.message}.`)
      return { outcome: "refused", lines }
    }
    lines.push(report(exported.success, verdict.success))
  }
  return { outcome: "verified", lines }
}
