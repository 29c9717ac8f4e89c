/**
 * The usage table as CSV. Texts are always quoted, and what a spreadsheet would take for a formula is made a text by a leading
 * single quote, so that the name of a tunnel cannot run on somebody else's machine.
 */
import { type UsageRow } from "./Usage.ts"

const header = "tunnel,hostname,uptime_30d_pct,sessions_30d,bytes_in_30d,bytes_out_30d"

/** The characters that begin a formula in one spreadsheet or another, also behind blanks and in their wide forms. */
const formula = /^\s*[=+\-@\t|%＝＋－＠]/u

/**
 * A text as one field: line breaks dropped, quotes doubled, formulas made harmless.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { quoted } from "@catenet/domain/tunnels/UsageCsv"
 *
 * assert.equal(quoted('say "hi"'), '"say ""hi"""')
 * assert.equal(quoted("=1+1"), `"'=1+1"`)
 * ```
 */
export const quoted = (text: string): string => {
  const line = text.replace(/[\r\n]/g, "")
  return `"${formula.test(line) ? "'" : ""}${line.replaceAll('"', '""')}"`
}

/** One tunnel; its four numbers are null without history. */
export type UsageCsvRow = Pick<UsageRow, "uptime_30d_pct" | "sessions_30d" | "bytes_in_30d" | "bytes_out_30d"> & {
  readonly tunnel: string
  readonly hostname: string | null
}

/**
 * The whole file: a header and one row for each tunnel, each ended by CRLF.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { usageCsv } from "@catenet/domain/tunnels/UsageCsv"
 *
 * const silent = { uptime_30d_pct: null, sessions_30d: null, bytes_in_30d: null, bytes_out_30d: null }
 * const lines = usageCsv([
 *   { tunnel: "cam", hostname: "cam.example", uptime_30d_pct: 99, sessions_30d: 2, bytes_in_30d: 10, bytes_out_30d: 20 },
 *   { tunnel: "new", hostname: null, ...silent }
 * ]).split("\r\n")
 * assert.equal(lines[1], '"cam","cam.example",99.0,2,10,20')
 * assert.equal(lines[2], '"new","",,,,')
 * ```
 */
export const usageCsv = (rows: ReadonlyArray<UsageCsvRow>): string =>
  [
    header,
    ...rows.map((row) =>
      [
        quoted(row.tunnel),
        quoted(row.hostname ?? ""),
        row.uptime_30d_pct?.toFixed(1) ?? "",
        row.sessions_30d ?? "",
        row.bytes_in_30d ?? "",
        row.bytes_out_30d ?? ""
      ].join(",")
    )
  ]
    .map((line) => `${line}\r\n`)
    .join("")
