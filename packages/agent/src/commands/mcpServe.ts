/** `mcp -- COMMAND`: a public address for a stdio MCP server. */
import { isWildcard } from "@catenet/domain/values/Hostname"
import { Effect, Option } from "effect"
import { UsageWrong } from "../Failure.ts"
import { origins, scopes, toolLists, variables } from "../settings/McpVariables.ts"
import { allowed } from "./channel.ts"
import * as expose from "./expose.ts"
import { noRules, type RuleFlags } from "./rules.ts"

export interface Options extends Omit<expose.Common, "login" | "qr" | keyof RuleFlags> {
  readonly command: ReadonlyArray<string>
  readonly public: boolean
  readonly share: boolean
  readonly env: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
  readonly allowOrigin: ReadonlyArray<string>
  readonly scope: ReadonlyArray<string>
}

/** A word of a command line of the shell. */
const word = (text: string) => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** A flag and the variable that it stands for. */
const flags = [
  ["--tools", "tools", variables.mcpTools.name, toolLists, ";"],
  ["--allow-origin", "allowOrigin", variables.mcpOrigins.name, origins, ","],
  ["--scope", "scope", variables.mcpScopes.name, scopes, ","]
] as const

export const serve = Effect.fn("mcp.serve")(function* (options: Options) {
  const { command, env, share } = options
  if (command.length === 0)
    return yield* new UsageWrong({
      detail:
        "ct-agent mcp needs the command of an MCP server after --, such as: ct-agent mcp -- npx -y some-mcp-server"
    })
  const named = Option.getOrElse(options.host, () => "")
  if (isWildcard(named))
    return yield* new UsageWrong({ detail: `--host ${named} stands for many names, and an MCP server has one.` })
  yield* allowed(env)
  const given = new Map<string, string>()
  for (const [flag, key, name, parser, between] of flags) {
    const text = options[key].join(between)
    if (text === "") continue
    if (parser.parse(text) === undefined)
      return yield* new UsageWrong({ detail: `${flag} takes ${parser.expected}. For example: ${parser.example ?? ""}` })
    given.set(name, text)
  }
  const origin = { _tag: "Mcp", command: command.map(word).join(" ") } as const
  const shown = (url: string) => new URL("mcp", url).href
  yield* expose.serve(
    { ...options, ...noRules, login: false, qr: false, inspect: Option.orElseSome(options.inspect, () => false) },
    origin,
    Effect.succeed({
      ...Object.fromEntries(given),
      ...(env.length > 0 ? { [variables.mcpEnvironment.name]: env.join(",") } : {}),
      ...(share ? { [variables.mcpShare.name]: "1" } : {}),
      ...(options.public ? { [variables.mcpPublic.name]: "1" } : {})
    }),
    shown
  )
})
