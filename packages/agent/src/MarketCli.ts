/** The command line of how agents find and engage each other: offers, the directory and pipelines. */
import * as Documentation from "@catenet/platform/Documentation"
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"
import * as MarketVariables from "./settings/MarketVariables.ts"
import * as PipelineVariables from "./settings/PipelineVariables.ts"

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
    () => import("./commands/offer.ts"),
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
    () => import("./commands/directory.ts"),
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
        () => import("./commands/directory.ts"),
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

const convene = Command.make(
  "convene",
  {
    run: Flag.Boolean("run").pipe(
      Flag.withDefault(false),
      Flag.withDescription(
        "Send stdin through the services of the roles, in order, and print what the last one answers"
      )
    )
  },
  loaded(
    () => import("./commands/pipeline.ts"),
    ({ pipeline }, options) => pipeline(options)
  )
).pipe(
  Command.withDescription(
    "Fills the roles of the pipeline CT_PIPELINE_ID, which is published at CT_AGENT_CP_URL: meets those who serve on the derived " +
      "channel of each role, reads their offers, chooses by the role's policy, and bids the floor. Prints a line for each role: role, " +
      "provider, units, price with currency, match reference. RoundRobin and LeastCalls go on where the run before ended, by what is " +
      "in CT_AGENT_STATE_DIR.\n\n" +
      "LowestFloor takes the cheapest offer, RoundRobin the next holder after the last one of the role, LeastCalls the one that was " +
      "chosen least. A provider that does not take the bid is left out. Exit codes: 1 a service failed, 3 wrong configuration, 4 no " +
      "provider fits a role, or refused, 5 not reached.\n\n" +
      `Its variables:\n${Documentation.help(PipelineVariables.variables)}`
  ),
  Command.withShortDescription("Fill the roles of a pipeline by an auction"),
  Command.withExamples([
    { command: "ct-agent channel convene --config buyer.env", description: "Prints who has which role" },
    { command: "echo hi | ct-agent channel convene --run", description: "And sends a text through all roles" }
  ])
)

/** What stands below `channel` for those who look for agents, and want to be found. */
export const marketCommands = [directory, convene] as const
