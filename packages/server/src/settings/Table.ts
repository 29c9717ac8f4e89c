/** The configuration table of the operations guide, made from the variables themselves. */
import { variables } from "../Settings.ts"
import type { Variable } from "./Variable.ts"

const cell = (text: string) => text.replaceAll("|", "\\|")

const row = ({ expected, fallback, meaning, name }: Variable<unknown>) =>
  `| \`${name}\` | ${cell(meaning)} | ${cell(expected)} | ${fallback === undefined ? "**required**" : fallback === "unset" ? "" : `\`${cell(fallback)}\``} |`

/** Markdown, one line a variable, in the order in which they are declared. */
export const markdown = (): string =>
  ["| variable | meaning | form | default |", "| --- | --- | --- | --- |", ...Object.values(variables).map(row)].join(
    "\n"
  )
