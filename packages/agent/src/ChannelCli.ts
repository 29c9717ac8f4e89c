/** The command line of `channel` and of what stands below it. */
import * as Documentation from "@catenet/platform/Documentation"
import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"
import { marketCommands } from "./MarketCli.ts"
import { operatorCommands } from "./OperatorCli.ts"
import { ownerCommands } from "./OwnerCli.ts"
import * as CardVariables from "./settings/CardVariables.ts"
import * as Variables from "./settings/Variables.ts"

const channelMcp = Command.make(
  "mcp",
  {},
  loaded(
    () => import("./commands/channel.ts"),
    ({ channel }) => channel({ as: "mcp" })
  )
).pipe(
  Command.withDescription(
    "Is a standard MCP server on stdin and stdout for local clients, such as editors and assistants. Its tools are those of the " +
      "peer, listed live; the session with the peer is opened when a call needs it. Configured by the variables of `channel`."
  ),
  Command.withShortDescription("Give the peer's tools to local MCP clients"),
  Command.withExamples([
    { command: "ct-agent channel mcp --config peer.env", description: "As the command of an MCP client" }
  ])
)

const channelServe = Command.make(
  "serve",
  {
    mcpCommand: Flag.String("mcp-command").pipe(
      Flag.optional,
      Flag.withMetavar("COMMAND"),
      Flag.withDescription("A local MCP server on stdio, whose tools are offered to the peer beside the built-in ones")
    )
  },
  loaded(
    () => import("./commands/channel.ts"),
    ({ channel }, { mcpCommand }) => channel({ as: "server", mcpCommand: Option.getOrUndefined(mcpCommand) })
  )
).pipe(
  Command.withDescription(
    "Serves tools to the peer, as CT_CHANNEL_SERVE=1 does. The command of --mcp-command runs by the shell, without this program's " +
      "variables, and is started again when it ends."
  ),
  Command.withShortDescription("Offer tools, also those of a local MCP server"),
  Command.withExamples([
    { command: `ct-agent channel serve --mcp-command "npx -y my-mcp-server"`, description: "Any server on stdio" }
  ])
)

const channelInvite = Command.make(
  "invite",
  {
    mcp: Flag.Boolean("mcp").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Joining prints the entry of an MCP client's configuration")
    ),
    days: Flag.Int("days").pipe(
      Flag.withDefault(90),
      Flag.withMetavar("DAYS"),
      Flag.withDescription("How long the member may use the channel, 1 to 3650")
    ),
    program: Flag.String("program").pipe(
      Flag.optional,
      Flag.withMetavar("PACKAGE"),
      Flag.withDescription(
        "What npx runs on the other machine, such as the path of a packed ct-agent; without it the control plane's /agent.tgz"
      )
    )
  },
  loaded(
    () => import("./commands/invite.ts"),
    ({ invite }, options) => invite(options)
  )
).pipe(
  Command.withDescription(
    "Prepares a membership of the channel and prints one line for another machine, which works once within a day. Needs the " +
      "variables of a member, CT_AGENT_CP_URL, CT_CHANNEL_OPERATOR_KEY, and the owner's token in CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE. " +
      "The control plane keeps what it cannot read: its key is in the line.\n\n" +
      "With CT_INVITE_IDENTITY it signs a bare invitation instead, for CT_INVITE_CHANNEL, CT_INVITE_DIRECTION and CT_INVITE_EXPIRES, " +
      "and prints its 278 hex digits; channel redeem takes it up."
  ),
  Command.withShortDescription("Make a line by which somebody joins the channel"),
  Command.withExamples([
    { command: "ct-agent channel invite --mcp --days 7", description: "For a week, for an MCP client" }
  ])
)

const channelJoin = Command.make(
  "join",
  { link: Argument.String("link") },
  loaded(
    () => import("./commands/join.ts"),
    ({ join }, options) => join(options)
  )
).pipe(
  Command.withDescription(
    "Redeems an invite link, makes this member's Noise key, and stores its variables in ~/.ct-agent/channels, readable for you " +
      "only. Prints what to do with them; given again, the same line prints it again. Exit codes: 2 no invite link, 4 used or " +
      "expired, 5 the control plane cannot be reached."
  ),
  Command.withShortDescription("Take up a membership by an invite link"),
  Command.withExamples([
    {
      command: "ct-agent channel join 'https://portal.example.org/join#...'",
      description: "The line that you were sent"
    }
  ])
)

const channelAgentCard = Command.make(
  "agent-card",
  {
    a2a: Flag.Boolean("a2a").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Makes the same file an A2A 1.0 agent card too")
    ),
    verify: Flag.String("verify").pipe(
      Flag.optional,
      Flag.withMetavar("FILE"),
      Flag.withDescription("Reads a card, and says whether it is signed and alive")
    )
  },
  loaded(
    () => import("./commands/agentCard.ts"),
    ({ agentCard }, options) => agentCard(options)
  )
).pipe(
  Command.withDescription(
    "Writes this agent's signed card to .well-known/agent-card.json below CT_AGENT_CARD_OUT, and prints its path. With " +
      "CT_AGENT_CARD_URL and CT_AGENT_CP_URL it registers the card: as the user of ct-agent login, or with CT_CP_EDGE_ADMIN_TOKEN as " +
      "the operator. Exit codes: 1 --verify found no valid card, 3 wrong configuration, 4 refused, 5 not reached.\n\n" +
      `Its variables:\n${Documentation.help(CardVariables.agentCard)}`
  ),
  Command.withShortDescription("Write, register or verify an agent's card"),
  Command.withExamples([
    { command: "CT_AGENT_CARD_ROLES=translator ct-agent channel agent-card --a2a", description: "One file for both" },
    { command: "ct-agent channel agent-card --verify agent-card.json", description: "Is it signed and alive?" }
  ])
)

const channelRoom = Command.make(
  "room",
  { peer: Argument.String("peer").pipe(Argument.optional) },
  loaded(
    () => import("./commands/room.ts"),
    ({ room }, { peer }) => room({ peer: Option.getOrUndefined(peer) })
  )
).pipe(
  Command.withDescription(
    "Is the member of every channel of a room: it meets each peer that CT_CHANNEL_GRANTS names, serves tools to it, and meets it again " +
      "when the session is over. With the name or the holder key of a peer it calls that peer once, as CT_CHANNEL_CALL_SERVICE or " +
      "CT_CHANNEL_CALL says: in the session of the room that runs with the same CT_AGENT_STATE_DIR, or else in one of its own. The " +
      `other variables are those of \`channel\`.\n\n${Documentation.help({ grants: Variables.room.grants })}`
  ),
  Command.withShortDescription("Be a member of all channels of a room, or call one of its peers"),
  Command.withExamples([
    { command: "ct-agent channel room --config room.env", description: "All pairs, in one process" },
    { command: "echo hi | CT_CHANNEL_CALL_SERVICE=text_generation ct-agent channel room anna", description: "One peer" }
  ])
)

export const channel = Command.make(
  "channel",
  {},
  loaded(
    () => import("./commands/channel.ts"),
    ({ channel }) => channel({ as: "variables" })
  )
).pipe(
  Command.withDescription(
    "Joins a channel as the member that CT_CHANNEL_GRANT admits, meets the peer at the edge, and opens a session that both have " +
      "sealed: the edge cannot read it. With CT_CHANNEL_SERVE=1 it serves tools to one peer after the other; with " +
      "CT_CHANNEL_CALL_SERVICE or CT_CHANNEL_CALL it calls the peer once; otherwise it joins the session with stdin and stdout.\n\n" +
      "Exit codes: 0 done, 1 the call failed at the peer, 2 wrong usage or, for CT_CHANNEL_CALL, an error in the reply, 3 wrong " +
      "configuration, 4 refused by the edge or the peer, 5 they cannot be reached.\n\n" +
      `Its variables:\n${Documentation.help(Variables.channel)}`
  ),
  Command.withShortDescription("Reach another agent, or be reached by it"),
  Command.withExamples([
    {
      command: "echo hi | CT_CHANNEL_CALL_SERVICE=text_generation ct-agent channel",
      description: "Calls the peer once"
    }
  ]),
  Command.withSubcommands([
    channelMcp,
    channelServe,
    channelInvite,
    channelJoin,
    channelRoom,
    channelAgentCard,
    ...marketCommands,
    ...operatorCommands,
    ...ownerCommands
  ])
)

export const relayNode = Command.make(
  "relay-node",
  {},
  loaded(
    () => import("./commands/relayNode.ts"),
    ({ relayNode }) => relayNode
  )
).pipe(
  Command.withDescription(
    "Relays members of channels: they join it as they join an edge, and it copies what they say, which is sealed. It stands behind " +
      "the relay gate of an edge, or is dialled itself by members with CT_CHANNEL_CIRCUIT_RELAY.\n\n" +
      `Its variables:\n${Documentation.help(Variables.relayNode)}`
  ),
  Command.withShortDescription("Relay members of channels, behind an edge's gate"),
  Command.withExamples([
    { command: "CT_RELAY_NODE_LISTEN=0.0.0.0:4440 ct-agent relay-node", description: "At every address" }
  ])
)
