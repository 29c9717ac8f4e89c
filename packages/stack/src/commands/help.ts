/** `catenet help variables`: every variable that a command of this program reads. */
import { wrap } from "@catenet/agent/internal/terminal/LineWrap"
import { variables as ofEdge } from "@catenet/edge/internal/settings/Variables"
import * as Documentation from "@catenet/platform/Documentation"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { variables as ofStack } from "../up/Settings.ts"
import { variables as ofProvider } from "./idp.ts"

const variables = Effect.gen(function* () {
  const { variables: ofServer } = yield* Effect.promise(() => import("@catenet/server/internal/settings/Settings"))
  const sections = [
    ["up", ofStack],
    ["serve, migrate, backup and restore", ofServer],
    ["edge", ofEdge],
    ["idp", ofProvider]
  ] as const
  for (const [commands, variables] of sections)
    yield* Console.log(`${commands}:\n${wrap(Documentation.help(variables))}\n`)
  yield* Console.log("To read a secret from a file, append _FILE to the name of its variable.")
})

export const help = Command.make("help", {}, () => variables).pipe(
  Command.withDescription("Lists all variables. For a command, see catenet COMMAND --help."),
  Command.withShortDescription("List all variables"),
  Command.withExamples([{ command: "catenet help variables", description: "All variables with their defaults" }]),
  Command.withSubcommands([
    Command.make("variables", {}, () => variables).pipe(
      Command.withDescription("Lists every variable that a command of this program reads, with its form and default."),
      Command.withShortDescription("List all variables"),
      Command.withExamples([
        { command: "catenet help variables | grep CT_EDGE", description: "Variables of one topic" }
      ])
    )
  ])
)
