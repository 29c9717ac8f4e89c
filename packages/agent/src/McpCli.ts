/** Command definitions of `mcp`. */
import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { group, loaded } from "./LoadedCommand.ts"

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

export const mcp = Command.make("mcp", {}, group("ct-agent mcp", "add")).pipe(
  Command.withDescription("Sets up clients of the Model Context Protocol. To serve one, see ct-agent channel serve."),
  Command.withShortDescription("Set up MCP clients"),
  Command.withExamples([
    { command: "ct-agent mcp add cursor --config peer.env", description: "See also ct-agent channel mcp" }
  ]),
  Command.withSubcommands([add])
)
