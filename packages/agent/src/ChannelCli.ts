/** The command line of `channel` and of what stands below it. */
import * as Documentation from "@catenet/config/Documentation"
import { Option } from "effect"
import { Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"
import * as Variables from "./settings/Variables.ts"

const channelMcp = Command.make(
  "mcp",
  {},
  loaded(
    () => import("./commands/Channel.ts"),
    ({ channel }) => channel({ as: "mcp" })
  )
).pipe(
  Command.withDescription(
    "Is a standard MCP server on stdin and stdout for local clients, such as editors and assistants. Its tools are those of the " +
      "peer, listed live; the session with the peer is opened when a call needs it. Configured by the variables of `channel`."
  ),
  Command.withShortDescription("Give the peer's tools to local MCP clients")
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
    () => import("./commands/Channel.ts"),
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

export const channel = Command.make(
  "channel",
  {},
  loaded(
    () => import("./commands/Channel.ts"),
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
  Command.withSubcommands([channelMcp, channelServe])
)

export const relayNode = Command.make(
  "relay-node",
  {},
  loaded(
    () => import("./commands/RelayNode.ts"),
    ({ relayNode }) => relayNode
  )
).pipe(
  Command.withDescription(
    "Relays members of channels: they join it as they join an edge, and it copies what they say, which is sealed. It stands behind " +
      "the relay gate of an edge, or is dialled itself by members with CT_CHANNEL_CIRCUIT_RELAY.\n\n" +
      `Its variables:\n${Documentation.help(Variables.relayNode)}`
  ),
  Command.withShortDescription("Relay members of channels, behind an edge's gate")
)
