/** What a program's variables are, as the table of its guide and as the lines of its help. */
import type { Described } from "./Variable.ts"
import type { Variables } from "./VariableReader.ts"

const rowsOf = (variables: Variables): ReadonlyArray<Described> =>
  Object.values(variables).flatMap((variable) => Array.of<Described>(variable).concat(variable.family))

const standardOf = ({ isRequired, default: standard }: Described) =>
  isRequired ? "**required**" : standard === undefined ? "" : `\`${standard}\``

const formOf = ({ expected, isSecret }: Described) =>
  isSecret && !expected.includes("secret") ? `${expected}, secret` : expected

const cells = (row: Described) =>
  [`\`${row.name}\``, row.meaning, formOf(row), standardOf(row)].map((text) => text.replaceAll("|", "\\|"))

/** Markdown, one line a variable, in the order in which they are declared, the columns aligned. */
export const table = (variables: Variables): string => {
  const rows = [["variable", "meaning", "form", "default"], ...rowsOf(variables).map(cells)]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>, fill: string) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`
  return [
    line(rows[0] ?? [], " "),
    line(["-", "-", "-", "-"], "-"),
    ...rows.slice(1).map((row) => line(row, " "))
  ].join("\n")
}

/** Lines for `--help`. */
export const help = (variables: Variables): string => {
  const rows = rowsOf(variables)
  const widest = Math.max(...rows.map(({ name }) => name.length))
  return rows
    .map((row) => {
      const { isRequired, meaning, name, default: standard } = row
      const applies = isRequired ? ", required" : standard === undefined ? "" : `, default ${standard}`
      return `  ${name.padEnd(widest)}  ${meaning} (${formOf(row)}${applies})`
    })
    .join("\n")
}
