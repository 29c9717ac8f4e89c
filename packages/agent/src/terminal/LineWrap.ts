/** Wraps text at 100 columns, table rows below their second column, and formats the usage errors of the command line. */
import { Effect, Option } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"

/**
 * The command line's answers: requested help on stdout, and on stderr a short usage with the error as its last line, where a
 * person looks.
 */
const formatter = (stream: NodeJS.WriteStream) =>
  CliOutput.defaultFormatter({ colors: stream.isTTY && (process.env["NO_COLOR"] ?? "") === "" })

/** The library lists a flag's choices after its description, even if its form already shows them. */
const namedOnce = (flag: HelpDoc.FlagDoc): HelpDoc.FlagDoc =>
  flag.type.includes("|")
    ? { ...flag, description: Option.map(flag.description, (text) => text.replace(/ \(choices: [^)]*\)$/u, "")) }
    : flag

const withChoicesOnce = (doc: HelpDoc.HelpDoc): HelpDoc.HelpDoc =>
  doc.globalFlags === undefined ? doc : { ...doc, globalFlags: doc.globalFlags.map(namedOnce) }

/** A command's arguments and its subcommands. */
const shortUsage = ({ subcommands = [], usage }: HelpDoc.HelpDoc, path: ReadonlyArray<string>) => {
  const names = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  const below = names.length === 0 ? [] : ["", "COMMANDS", `  ${names.join(", ")}`]
  return ["USAGE", `  ${usage}`, ...below, "", `More: ${path.join(" ")} --help`].join("\n")
}

export const layer = CliOutput.layerPresenter({
  present: (event) =>
    Effect.sync(() => {
      const { stdout, stderr } = process
      switch (event._tag) {
        case "Help":
          stdout.write(`${wrap(formatter(stdout).formatHelpDoc(withChoicesOnce(event.helpDoc)))}\n`)
          return
        case "InvalidInvocation":
          stderr.write(`${wrap(shortUsage(event.helpDoc, event.commandPath))}\n\n`)
          for (const error of event.errors) stderr.write(`Error: ${formatter(stderr).formatCliError(error)}\n`)
          return
        case "Version":
          stdout.write(`${event.name} ${event.version}\n`)
      }
    })
})

const widest = 100
/** Limit of the second column's position; a later one is moved to `latest`, with longer first columns in their own line. */
const farthest = 46
const latest = 34

// eslint-disable-next-line no-control-regex
const styles = /\u001b\[[0-9;]*m/gu
const widthOf = (text: string) => text.replace(styles, "").length

const filled = (words: ReadonlyArray<string>, first: string, indent: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = first
  for (const word of words) {
    const isEmpty = line.trim() === "" || line === first
    const gap = isEmpty ? "" : " "
    if (!isEmpty && widthOf(line) + 1 + widthOf(word) > widest) {
      lines.push(line)
      line = indent + word
    } else line += gap + word
  }
  return [...lines, line]
}

const wrapLine = (line: string): ReadonlyArray<string> => {
  const row = /^(\s*\S.*?\S)( {2,})(\S.*)$/u.exec(line)
  const [, left = "", gap = "", right = ""] = row ?? []
  const column = widthOf(left) + gap.length
  if (row !== null && column > farthest) {
    const indent = " ".repeat(latest)
    const short = widthOf(left) + 2 <= latest
    const first = short ? left + " ".repeat(latest - widthOf(left)) : indent
    return [...(short ? [] : [left]), ...filled(right.split(" "), first, indent)]
  }
  if (widthOf(line) <= widest) return [line]
  if (row !== null) return filled(right.split(" "), left + gap, " ".repeat(column))
  const indent = /^\s*/u.exec(line)?.[0] ?? ""
  return filled(line.trimStart().split(" "), indent, indent)
}

/** The text wrapped at 100 columns, as far as its words permit. */
export const wrap = (text: string): string => text.split("\n").flatMap(wrapLine).join("\n")
