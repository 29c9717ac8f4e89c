/** The configuration table of the operations guide, made from the variables themselves. */
import { variables } from "./Settings.ts"
import * as CertificateAuthorities from "./CertificateAuthorities.ts"
import type { Variable } from "./Variable.ts"

const defaultOf = (fallback: string | undefined) =>
  fallback === undefined ? "**required**" : fallback === "unset" ? "" : `\`${fallback}\``

type Row = Omit<Variable<unknown>, "read">

/** The pairs of the authorities stand below their list. */
const rowsOf = (variable: Variable<unknown>): ReadonlyArray<Row> =>
  variable === variables.certificateAuthorities ? [variable, ...CertificateAuthorities.pairs] : [variable]

const cells = ({ expected, fallback, meaning, name }: Row) =>
  [`\`${name}\``, meaning, expected, defaultOf(fallback)].map((text) => text.replaceAll("|", "\\|"))

/** Markdown, one line a variable, in the order in which they are declared, the columns aligned. */
export const markdown = (): string => {
  const rows = [["variable", "meaning", "form", "default"], ...Object.values(variables).flatMap(rowsOf).map(cells)]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>, fill: string) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`
  return [
    line(rows[0] ?? [], " "),
    line(["-", "-", "-", "-"], "-"),
    ...rows.slice(1).map((row) => line(row, " "))
  ].join("\n")
}
