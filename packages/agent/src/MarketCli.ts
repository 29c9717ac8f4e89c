/** The command line of how agents find and engage each other: the directory. */
import { Argument, Command } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

const directory = Command.make(
  "directory",
  {},
  loaded(
    () => import("./commands/Directory.ts"),
    ({ entries }) => entries
  )
).pipe(
  Command.withDescription(
    "Prints the agents that you have registered in the public directory: holder key, end, roles and the card's address, a line " +
      "each. Needs a login and CT_AGENT_CP_URL."
  ),
  Command.withShortDescription("List or remove your agents in the directory"),
  Command.withExamples([{ command: "ct-agent channel directory --json", description: "For a script" }]),
  Command.withSubcommands([
    Command.make(
      "remove",
      { holder: Argument.String("holder-pubkey") },
      loaded(
        () => import("./commands/Directory.ts"),
        ({ remove }, options) => remove(options)
      )
    ).pipe(
      Command.withDescription(
        "Takes an agent of yours out of the public directory, by its holder key. Its card stays."
      ),
      Command.withExamples([{ command: "ct-agent channel directory remove db99...", description: "At once" }])
    )
  ])
)

/** What stands below `channel` for those who look for agents, and want to be found. */
export const marketCommands = [directory] as const
