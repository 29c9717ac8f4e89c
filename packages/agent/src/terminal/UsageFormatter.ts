/**
 * How the command line answers about itself: asked-for help on stdout, and on stderr a short usage with the complaint as its last
 * line, where a person looks.
 */
import { Effect, Option } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"
import { wrap } from "./LineWrap.ts"

const formatter = (stream: NodeJS.WriteStream) =>
  CliOutput.defaultFormatter({ colors: stream.isTTY && (process.env["NO_COLOR"] ?? "") === "" })

/** The library names the choices of a flag behind its description, also where the form of the flag has them already. */
const namedOnce = (flag: HelpDoc.FlagDoc): HelpDoc.FlagDoc =>
  flag.type.includes("|")
    ? { ...flag, description: Option.map(flag.description, (text) => text.replace(/ \(choices: [^)]*\)$/u, "")) }
    : flag

const withChoicesOnce = (doc: HelpDoc.HelpDoc): HelpDoc.HelpDoc =>
  doc.globalFlags === undefined ? doc : { ...doc, globalFlags: doc.globalFlags.map(namedOnce) }

/** What a command is called with, and the names below it. */
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
