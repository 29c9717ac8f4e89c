/** Command definitions for finding agents: offers, the directory and pipelines. */
import * as Documentation from "@catenet/platform/Documentation"
import { Argument, Command, Flag } from "effect/cli"
import { group, loaded } from "./LoadedCommand.ts"
import * as MarketVariables from "./settings/MarketVariables.ts"
import * as PipelineVariables from "./settings/PipelineVariables.ts"

export const offer = Command.make(
  "offer",
  {
    verify: Flag.String("verify").pipe(
      Flag.optional,
      Flag.withMetavar("FILE"),
      Flag.withDescription("Report whether this offer is signed and not expired")
    )
  },
  loaded(async () => (await import("./commands/offer.ts")).offer)
).pipe(
  Command.withDescription(
    "Prints a signed capacity offer with the terms in CT_AGENT_OFFER_*, as one line of JSON. A serving member " +
      "returns the same offer from the tool auction/offer. Uses no network. Exit codes: 1 --verify found no valid " +
      "offer, 3 wrong configuration.\n\n" +
      `Its variables:\n${Documentation.help(MarketVariables.signedOffer)}`
  ),
  Command.withShortDescription("Print or verify a signed capacity offer"),
  Command.withExamples([
    { command: "ct-agent offer --config seller.env > offer.json", description: "With the variables of this file" },
    { command: "ct-agent offer --verify offer.json", description: "Check its signature and expiry" }
  ])
)

export const directory = Command.make(
  "directory",
  {},
  loaded(async () => (await import("./commands/directory.ts")).entries)
).pipe(
  Command.withDescription(
    "Lists the agents that you have registered in the public directory: holder key, expiry, roles and the URL of " +
      "the card, one agent on each line. Requires a login and CT_AGENT_CP_URL."
  ),
  Command.withShortDescription("List or remove your agents in the directory"),
  Command.withExamples([{ command: "ct-agent channel directory --json", description: "For scripts" }]),
  Command.withSubcommands([
    Command.make(
      "remove",
      { holder: Argument.String("holder-pubkey") },
      loaded(async () => (await import("./commands/directory.ts")).remove)
    ).pipe(
      Command.withDescription(
        "Removes one of your agents from the public directory, given by its holder key. Its card is kept."
      ),
      Command.withExamples([
        { command: "ct-agent channel directory remove db99...", description: "Takes effect at once" }
      ])
    )
  ])
)

const match = Command.make(
  "match",
  {},
  loaded(async () => (await import("./commands/pipeline.ts")).match)
).pipe(
  Command.withDescription(
    "Fills the roles of the pipeline CT_PIPELINE_ID, published at CT_AGENT_CP_URL. It connects to the providers on " +
      "the derived channel of each role, reads their offers, chooses one by the role's policy, and bids the offer's " +
      "minimum price. For each role it prints a line with role, provider, units, price with currency, and match " +
      "reference. RoundRobin and LeastCalls continue from the previous run, using the history in " +
      "CT_AGENT_STATE_DIR.\n\n" +
      "LowestFloor chooses the cheapest offer, RoundRobin the holder after the role's previous provider, LeastCalls " +
      "the holder chosen least often. A provider that does not accept the bid is excluded. Exit codes: 3 wrong " +
      "configuration, 4 refused, or no provider fits a role, 5 unreachable.\n\n" +
      `Its variables:\n${Documentation.help(PipelineVariables.variables)}`
  ),
  Command.withShortDescription("Choose a provider for each role of a pipeline"),
  Command.withExamples([
    { command: "ct-agent pipeline match --config buyer.env", description: "Prints the provider of each role" }
  ])
)

const run = Command.make(
  "run",
  {},
  loaded(async () => (await import("./commands/pipeline.ts")).run)
).pipe(
  Command.withDescription(
    "Fills the roles as `ct-agent pipeline match` does, passes stdin through the services of the roles in order, " +
      "and prints the last response. Uses the variables of `match`. Exit codes: 1 a service failed; otherwise as " +
      "for `match`."
  ),
  Command.withShortDescription("Pass stdin through the roles of a pipeline"),
  Command.withExamples([
    { command: "echo hi | ct-agent pipeline run --config buyer.env", description: "Prints the last role's response" }
  ])
)

export const pipeline = Command.make("pipeline", {}, group("ct-agent pipeline", "match or run")).pipe(
  Command.withDescription(
    "Uses a pipeline that someone has published: an ordered list of roles, each filled by one of the agents that " +
      "offer its service."
  ),
  Command.withShortDescription("Fill and run the roles of a published pipeline"),
  Command.withExamples([
    { command: "ct-agent pipeline match --config buyer.env", description: "Prints the provider of each role" }
  ]),
  Command.withSubcommands([match, run])
)
