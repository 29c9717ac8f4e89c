/** The command line of how agents find and engage each other: offers and the directory. */
import * as Documentation from "@catenet/config/Documentation"
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"
import * as MarketVariables from "./settings/MarketVariables.ts"

export const offer = Command.make(
  "offer",
  {
    verify: Flag.String("verify").pipe(
      Flag.optional,
      Flag.withMetavar("FILE"),
      Flag.withDescription("Reads an offer, and says whether it is signed and alive")
    )
  },
  loaded(
    () => import("./commands/Offer.ts"),
    ({ offer }, options) => offer(options)
  )
).pipe(
  Command.withDescription(
    "Prints the signed capacity offer of CT_AGENT_OFFER_*, as a serving member shows it to its peers in the tool auction/offer: one " +
      "line of JSON. It asks no network. Exit codes: 1 --verify found no valid offer, 3 wrong configuration.\n\n" +
      `Its variables:\n${Documentation.help(MarketVariables.signedOffer)}`
  ),
  Command.withShortDescription("Print the signed capacity offer of an agent"),
  Command.withExamples([
    { command: "ct-agent offer --config seller.env > offer.json", description: "With the variables of this file" },
    { command: "ct-agent offer --verify offer.json", description: "Is it signed and alive?" }
  ])
)

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
