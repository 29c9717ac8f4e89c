/** Command definitions of `channel` and its subcommands. */
import * as Documentation from "@catenet/platform/Documentation"
import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { confirm, inspectCalls } from "./Flags.ts"
import { loaded } from "./LoadedCommand.ts"
import { directory } from "./MarketCli.ts"
import { operatorCommands } from "./OperatorCli.ts"
import { ownerCommands } from "./OwnerCli.ts"
import * as CardVariables from "./settings/CardVariables.ts"
import * as Variables from "./settings/Variables.ts"

const channelMcp = Command.make(
  "mcp",
  {},
  loaded(async () => (await import("./commands/channel.ts")).channel({ as: "mcp" }))
).pipe(
  Command.withDescription(
    "Runs an MCP server on stdin and stdout for local clients, such as editors and assistants. It passes every message " +
      "of the client and of the peer's MCP server. Uses the variables of `channel`."
  ),
  Command.withShortDescription("Offer the peer's MCP server to local clients"),
  Command.withExamples([
    { command: "ct-agent channel mcp --config peer.env", description: "The command to configure in an MCP client" }
  ])
)

const channelServe = Command.make(
  "serve",
  {
    mcpCommand: Flag.String("mcp-command").pipe(
      Flag.optional,
      Flag.map(Option.getOrUndefined),
      Flag.withMetavar("COMMAND"),
      Flag.withDescription("Local MCP server on stdio that is offered to the peer, in addition to the built-in tools")
    ),
    env: Flag.String("env").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Name of a variable that the MCP server gets; give the flag once for each"),
      Flag.atLeast(0)
    ),
    confirm,
    inspect: inspectCalls
  },
  loaded(async () => (await import("./commands/channel.ts")).serve)
).pipe(
  Command.withDescription(
    "Serves tools to the peer, like `channel` with CT_CHANNEL_SERVE=1. The command given with --mcp-command runs " +
      "in a shell, without this program's variables, once for each session."
  ),
  Command.withShortDescription("Serve tools, including those of a local MCP server"),
  Command.withExamples([
    { command: `ct-agent channel serve --mcp-command "npx -y my-mcp-server"`, description: "Any MCP server on stdio" },
    {
      command: `ct-agent channel serve --mcp-command "npx -y my-mcp-server" --env API_TOKEN`,
      description: "One that needs a variable"
    }
  ])
)

const channelInvite = Command.make(
  "invite",
  {
    mcp: Flag.Boolean("mcp").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Let `join` print a configuration entry for an MCP client")
    ),
    days: Flag.Int("days").pipe(
      Flag.withDefault(90),
      Flag.withMetavar("DAYS"),
      Flag.withDescription("Days for which the member may use the channel, 1 to 3650")
    ),
    program: Flag.String("program").pipe(
      Flag.optional,
      Flag.withMetavar("PACKAGE"),
      Flag.withDescription(
        "Package that npx runs on the other machine, such as the path of a packed ct-agent (default: the control " +
          "plane's /agent.tgz)"
      )
    )
  },
  loaded(async () => (await import("./commands/invite.ts")).invite)
).pipe(
  Command.withDescription(
    "Prepares a membership of the channel and prints a command that joins it from another machine, once, within a " +
      "day. Requires the variables of a member, CT_AGENT_CP_URL, CT_CHANNEL_OPERATOR_KEY, and the owner's token in " +
      "CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE. The control plane stores the membership encrypted; only the printed " +
      "command contains the key.\n\n" +
      "With CT_INVITE_IDENTITY it instead signs an invitation for that key, with CT_INVITE_CHANNEL, " +
      "CT_INVITE_DIRECTION and CT_INVITE_EXPIRES, and prints its 278 hex digits for `channel redeem`."
  ),
  Command.withShortDescription("Invite someone to the channel with one command"),
  Command.withExamples([
    { command: "ct-agent channel invite --mcp --days 7", description: "Valid for a week, for an MCP client" }
  ])
)

const channelJoin = Command.make(
  "join",
  {
    link: Argument.String("link"),
    client: Argument.String("client").pipe(
      Argument.optional,
      Argument.map(Option.getOrUndefined),
      Argument.withDescription("MCP client whose configuration file gets the entry: claude, cursor, vscode or codex")
    ),
    yes: Flag.Boolean("yes").pipe(Flag.withDefault(false), Flag.withDescription("Do not ask before that"))
  },
  loaded(async () => (await import("./commands/join.ts")).join)
).pipe(
  Command.withDescription(
    "Redeems an invite link, generates this member's Noise key, and stores its variables in ~/.ct-agent/channels, " +
      "readable by you only. Prints how to use them; run the same command again to print it again. With the name of an " +
      "MCP client it does what `mcp add` does. Exit codes: 2 not an invite link, 4 used or expired, 5 control plane " +
      "unreachable."
  ),
  Command.withShortDescription("Join a channel with an invite link"),
  Command.withExamples([
    {
      command: "ct-agent channel join 'https://portal.example.org/join#...'",
      description: "The link that you received"
    },
    {
      command: "ct-agent channel join 'https://portal.example.org/join#...' claude",
      description: "And add the peer to Claude Code"
    }
  ])
)

const channelAgentCard = Command.make(
  "agent-card",
  {
    a2a: Flag.Boolean("a2a").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Make the file an A2A 1.0 agent card too")
    ),
    verify: Flag.String("verify").pipe(
      Flag.optional,
      Flag.withMetavar("FILE"),
      Flag.withDescription("Report whether this card is signed and not expired")
    )
  },
  loaded(async () => (await import("./commands/agentCard.ts")).agentCard)
).pipe(
  Command.withDescription(
    "Writes this agent's signed card to .well-known/agent-card.json below CT_AGENT_CARD_OUT and prints its path. " +
      "With CT_AGENT_CARD_URL and CT_AGENT_CP_URL it also registers the card in the public directory: as the user of " +
      "ct-agent login, or as the operator with CT_CP_EDGE_ADMIN_TOKEN. Exit codes: 1 --verify found no valid card, 3 " +
      "wrong configuration, 4 refused, 5 unreachable.\n\n" +
      `Its variables:\n${Documentation.help(CardVariables.agentCard)}`
  ),
  Command.withShortDescription("Write, register or verify an agent's card"),
  Command.withExamples([
    {
      command: "CT_AGENT_CARD_ROLES=translator ct-agent channel agent-card --a2a",
      description: "One file for both formats"
    },
    { command: "ct-agent channel agent-card --verify agent-card.json", description: "Check its signature and expiry" }
  ])
)

const channelRoom = Command.make(
  "room",
  { peer: Argument.String("peer").pipe(Argument.optional, Argument.map(Option.getOrUndefined)) },
  loaded(async () => (await import("./commands/room.ts")).room)
).pipe(
  Command.withDescription(
    "Joins all channels of a room: keeps a session with each peer in CT_CHANNEL_GRANTS, serves tools to it, and " +
      "reconnects when the session ends. With the name or the holder key of a peer, calls only that peer, once, as " +
      "CT_CHANNEL_CALL_SERVICE or CT_CHANNEL_CALL specifies: through a running room with the same " +
      "CT_AGENT_STATE_DIR if there is one, otherwise in a session of its own. The " +
      `other variables are those of \`channel\`.\n\n${Documentation.help({ grants: Variables.room.grants })}`
  ),
  Command.withShortDescription("Join all channels of a room, or call one of its peers"),
  Command.withExamples([
    { command: "ct-agent channel room --config room.env", description: "All pairs in one process" },
    {
      command: "echo hi | CT_CHANNEL_CALL_SERVICE=text_generation ct-agent channel room anna",
      description: "Calls one peer"
    }
  ])
)

const channelForgetPeer = Command.make(
  "forget-peer",
  { peer: Argument.String("peer") },
  loaded(async () => (await import("./commands/forgetPeer.ts")).forgetPeer)
).pipe(
  Command.withDescription(
    "Lets a peer join without post-quantum key exchange although it has used it before, or an edge that has carried the " +
      "offers and no longer does. Use it only when the owner confirms that this is right: otherwise somebody on the way " +
      "may have removed an offer. A peer is named by its key of 64 hex digits and an edge by its address, as in the " +
      "message of the refusal; the list is kept in CT_AGENT_STATE_DIR."
  ),
  Command.withShortDescription("Accept a peer or an edge that no longer offers post-quantum key exchange"),
  Command.withExamples([
    {
      command: "ct-agent channel forget-peer 6e5f0c9d…",
      description: "The key that the refusal printed"
    }
  ])
)

export const channel = Command.make(
  "channel",
  {},
  loaded(async () => (await import("./commands/channel.ts")).channel({ as: "variables" }))
).pipe(
  Command.withDescription(
    "Joins a channel with the grant CT_CHANNEL_GRANT, meets the peer at the edge, and opens an encrypted session " +
      "that the edge cannot read. With CT_CHANNEL_SERVE=1 it serves tools to one peer after another; with " +
      "CT_CHANNEL_CALL_SERVICE or CT_CHANNEL_CALL it calls the peer once; otherwise it connects the session to " +
      "stdin and stdout.\n\n" +
      "Exit codes: 0 success, 1 the call failed at the peer, 2 wrong usage or, for CT_CHANNEL_CALL, an error in the " +
      "reply, 3 wrong configuration, 4 refused by the edge or the peer, 5 edge or peer unreachable.\n\n" +
      `Its variables:\n${Documentation.help(Variables.channel)}`
  ),
  Command.withShortDescription("Connect to another agent over a channel"),
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
    channelForgetPeer,
    directory,
    ...operatorCommands,
    ...ownerCommands
  ])
)

export const relayNode = Command.make(
  "relay-node",
  {},
  loaded(async () => (await import("./commands/relayNode.ts")).relayNode)
).pipe(
  Command.withDescription(
    "Relays sessions between members of channels: members join it in the same way as an edge, and it copies their " +
      "encrypted messages. It runs behind the relay gate of an edge, or members connect to it directly with " +
      "CT_CHANNEL_CIRCUIT_RELAY.\n\n" +
      `Its variables:\n${Documentation.help(Variables.relayNode)}`
  ),
  Command.withShortDescription("Relay channel sessions, behind an edge's gate or directly"),
  Command.withExamples([
    { command: "CT_RELAY_NODE_LISTEN=0.0.0.0:4440 ct-agent relay-node", description: "Listen on all addresses" }
  ])
)
