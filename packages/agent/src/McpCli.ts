/** Command definitions of `mcp`. */
import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { confirm, inspectCalls } from "./Flags.ts"
import { loaded } from "./LoadedCommand.ts"
import { serve, serveDescription, serveExamples, serveFlags } from "./McpServeCli.ts"

const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.optional,
    Flag.map(Option.getOrUndefined),
    Flag.withMetavar(metavar),
    Flag.withDescription(description)
  )

const add = Command.make(
  "add",
  {
    client: Argument.String("client").pipe(Argument.withDescription("claude (Claude Code), cursor, vscode or codex")),
    name: optionalText(
      "name",
      "NAME",
      "Name of the server in the client (default: from the name of the --config file)"
    ),
    file: optionalText("file", "PATH", "The client's configuration file (default: that of this user)"),
    gateway: Flag.Boolean("gateway").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Add ct-agent mcp gateway, with the tools of all peers, in place of one peer")
    ),
    yes: Flag.Boolean("yes").pipe(Flag.withDefault(false), Flag.withDescription("Do not ask"))
  },
  loaded(async () => (await import("./commands/mcpAdd.ts")).add)
).pipe(
  Command.withDescription(
    "Adds the peer of the channel in the --config file as an MCP server to the configuration file of a client. Shows " +
      "the entry and asks first, keeps the file as it was beside it (.catenet-bak), and changes nothing else in it."
  ),
  Command.withShortDescription("Add a channel's peer to an MCP client"),
  Command.withExamples([
    { command: "ct-agent mcp add claude --config peer.env", description: "For Claude Code" },
    { command: "ct-agent mcp add claude --config peer.env --file .mcp.json", description: "For one project" }
  ])
)

const share = Command.make(
  "share",
  {
    command: Argument.String("command").pipe(
      Argument.atLeast(0),
      Argument.withDescription("The MCP server's command and its arguments, after --")
    ),
    name: optionalText(
      "name",
      "NAME",
      "Name of the share, and of the server in the client (default: from the command)"
    ),
    env: Flag.String("env").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Name of a variable that the MCP server gets; give the flag once for each"),
      Flag.atLeast(0)
    ),
    confirm,
    inspect: inspectCalls,
    days: Flag.Int("days").pipe(
      Flag.withDefault(90),
      Flag.withMetavar("DAYS"),
      Flag.withDescription("Days for which the one who joins may use it, 1 to 3650")
    ),
    again: Flag.Boolean("again").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print another line, although a machine has joined")
    ),
    program: Flag.String("program").pipe(
      Flag.optional,
      Flag.withMetavar("PACKAGE"),
      Flag.withDescription("Package that npx runs on the other machine (default: the control plane's /agent.tgz)")
    )
  },
  loaded(async () => (await import("./commands/mcpShare.ts")).share)
).pipe(
  Command.withDescription(
    "Serves a local MCP server on stdio to another machine, over a channel that only the two can read. The first start " +
      "makes the channel and its keys, in ~/.ct-agent/channels, and prints one line: run on the other machine, once and " +
      "within a day, it prints the entry for an MCP client, or writes it if the client's name follows (claude, cursor, " +
      "vscode, codex). The same command serves it again later. Requires ct-agent login. Exit codes: 3 wrong " +
      "configuration, 4 refused, 5 unreachable."
  ),
  Command.withShortDescription("Share a local MCP server with another machine"),
  Command.withExamples([
    { command: "ct-agent mcp share -- npx -y some-server", description: "Prints the line for the other machine" },
    { command: "ct-agent mcp share --env API_TOKEN -- ./server --stdio", description: "One that needs a variable" }
  ])
)

const gateway = Command.make(
  "gateway",
  {
    files: Argument.String("file").pipe(
      Argument.atLeast(0),
      Argument.withDescription(
        "Files of channels (default: all that ct-agent channel join has written for MCP clients)"
      )
    ),
    http: Flag.Int("http").pipe(
      Flag.optional,
      Flag.map(Option.getOrUndefined),
      Flag.withMetavar("PORT"),
      Flag.withDescription("Serve over HTTP at this port of 127.0.0.1, 0 for a free one, in place of stdin and stdout")
    )
  },
  loaded(async () => (await import("./commands/mcpGateway.ts")).gateway)
).pipe(
  Command.withDescription(
    "Runs an MCP server on stdin and stdout, or over HTTP, with what the MCP servers of all your channels' peers have: " +
      "tools and prompts as NAME.TOOL, resources as catenet://NAME/URI. Above 40 tools it lists find_tools and call_tool " +
      "in their place. A peer that is slow or absent does not delay the others. What the peers' servers ask of the client passes."
  ),
  Command.withShortDescription("Offer the MCP servers of all peers to a client as one"),
  Command.withExamples([
    { command: "ct-agent mcp gateway", description: "The command to configure in an MCP client" },
    { command: "ct-agent mcp gateway --http 8808", description: "For clients that speak HTTP on this machine" },
    { command: "ct-agent mcp -- ct-agent mcp gateway", description: "At a public address, for who has signed in" },
    { command: "ct-agent mcp add claude --gateway", description: "Configures it in Claude Code" }
  ])
)

export const mcp = Command.make("mcp", serveFlags, serve).pipe(
  Command.withDescription(
    `${serveDescription} The subcommands share a server over a channel, which only two machines can read, and set up clients.`
  ),
  Command.withShortDescription("Give MCP servers a public address, share them, set up MCP clients"),
  Command.withExamples([
    ...serveExamples,
    { command: "ct-agent mcp add cursor --config peer.env", description: "See also ct-agent channel mcp" }
  ]),
  Command.withSubcommands([share, gateway, add])
)
