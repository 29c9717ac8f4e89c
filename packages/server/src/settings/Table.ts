/** The configuration table of the operations guide, made from the variables themselves. */
import { variables } from "../Settings.ts"
import type { Variable } from "./Variable.ts"

const defaultOf = (fallback: string | undefined) =>
  fallback === undefined ? "**required**" : fallback === "unset" ? "" : `\`${fallback}\``

const cells = ({ expected, fallback, meaning, name }: Variable<unknown>) =>
  [`\`${name}\``, meaning, expected, defaultOf(fallback)].map((text) => text.replaceAll("|", "\\|"))

/** Markdown, one line a variable, in the order in which they are declared, the columns aligned. */
export const markdown = (): string => {
  const rows = [["variable", "meaning", "form", "default"], ...Object.values(variables).map(cells)]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>, fill: string) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`
  return [
    line(rows[0] ?? [], " "),
    line(["-", "-", "-", "-"], "-"),
    ...rows.slice(1).map((row) => line(row, " "))
  ].join("\n")
}
