/** Flags of `ct-agent mcp -- COMMAND`, and its body. */
import { Argument, Flag } from "effect/cli"
import { commonFlags } from "./AccountCli.ts"
import { loaded } from "./LoadedCommand.ts"

const { controlPlane, host, inspect, name, rm } = commonFlags

export const serveFlags = {
  command: Argument.String("command").pipe(
    Argument.variadic(),
    Argument.withDescription("Command of an MCP server on stdio, after --")
  ),
  controlPlane,
  host,
  inspect,
  name,
  rm,
  public: Flag.Boolean("public").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Let anyone call the server, without an access token")
  ),
  share: Flag.Boolean("share").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Start one process for all callers (default: one for each session)")
  ),
  env: Flag.String("env").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Name of a variable that the server gets; give the flag once for each"),
    Flag.atLeast(0)
  ),
  tools: Flag.String("tools").pipe(
    Flag.withMetavar("WHO=TOOL,..."),
    Flag.withDescription("Tools that a caller may use, such as bob@example.org=read_*; WHO may be * for all others"),
    Flag.atLeast(0)
  ),
  allowOrigin: Flag.String("allow-origin").pipe(
    Flag.withMetavar("ORIGIN"),
    Flag.withDescription("Let pages of this origin call the server; * for all"),
    Flag.atLeast(0)
  ),
  scope: Flag.String("scope").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Scope that clients ask for beside openid and email, where the identity provider needs one"),
    Flag.atLeast(0)
  )
}

export const serve = loaded(async () => (await import("./commands/mcpServe.ts")).serve)

export const serveDescription =
  "With a command after --, gives an MCP server on stdio a public address, as ct-agent http does for a service: any " +
  "client that speaks streamable HTTP, or HTTP with SSE, can add the address that is printed. Callers sign in (OAuth " +
  "2.1): you, people on the tunnel's list, and your service accounts. The command runs once for each session, without " +
  "this program's variables."

export const serveExamples = [
  { command: "ct-agent mcp -- npx -y some-mcp-server", description: "For you, and people on the tunnel's list" },
  {
    command: "ct-agent mcp --name notes --tools '*=read_*' -- ./notes-server --folder ~/notes",
    description: "Only some of its tools"
  }
]
