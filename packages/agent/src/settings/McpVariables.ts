/** Variables of an MCP server as an origin (`CT_AGENT_ORIGIN=mcp:command`). */
import type { ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"
import { Option, Record } from "effect"

/** The address of a host without a path. */
const address = Parser.make(
  "an https address without a path",
  (text) => (/^https:\/\/[a-z0-9.-]{1,253}(?::[0-9]{1,5})?\/?$/u.test(text) ? text.replace(/\/?$/u, "/") : undefined),
  { example: "https://tools.example.net/" }
)

const origin = Parser.make("an origin", (text) =>
  text === "*" || (URL.canParse(text) && new URL(text).origin === text) ? text : undefined
)

export const origins = Parser.listOf(
  origin,
  "origins such as https://app.example.net, with commas between them, or *",
  "https://app.example.net"
)

/** Names of scopes (RFC 6749, 3.3), without commas. */
export const scopes = Parser.listOf(
  Parser.make("a scope", (text) => (/^[!#-+.-[\]-~-]{1,100}$/u.test(text) ? text : undefined)),
  "names of scopes, with commas between them",
  "mcp-tools"
)

const name = Parser.make("a name", (text) => (/^[A-Za-z_][A-Za-z0-9_]*$/u.test(text) ? text : undefined))

/** Who may use which tools. */
export type ToolLists = ReadonlyMap<string, ReadonlyArray<string>>

export const toolLists: Parser.Parser<ToolLists> = Parser.make(
  "WHO=TOOL,TOOL, with a semicolon between such lists",
  (text) => {
    const lists = text
      .split(";")
      .map((list) => /^\s*([^\s=;,]+)\s*=\s*([^\s=;,]+(?:\s*,\s*[^\s=;,]+)*)\s*$/u.exec(list))
    if (lists.includes(null)) return undefined
    return new Map(lists.map((list) => [(list?.[1] ?? "").toLowerCase(), (list?.[2] ?? "").split(/\s*,\s*/u)]))
  },
  { example: "bob@example.org=read_*,search; *=search" }
)

export const variables = {
  mcpAddress: optional(
    "CT_AGENT_MCP_ADDRESS",
    address,
    "Public address of an MCP server's host, for which access tokens are made.",
    { standard: "https:// and CT_AGENT_HOSTNAME" }
  ),
  mcpPublic: optional(
    "CT_AGENT_MCP_PUBLIC",
    Parser.flag,
    "`1` lets anyone call the MCP server, without an access token."
  ),
  mcpShare: optional(
    "CT_AGENT_MCP_SHARE",
    Parser.flag,
    "`1` starts one process of the MCP server for all callers, instead of one for each session."
  ),
  mcpTools: optional(
    "CT_AGENT_MCP_TOOLS",
    toolLists,
    "Tools that callers may use, by e-mail address, client id of a service account, or `*` for everybody else; `*` in a tool's name stands for any characters.",
    { standard: "all tools for all callers" }
  ),
  mcpEnvironment: optional(
    "CT_AGENT_MCP_ENV",
    Parser.listOf(name, "names of variables, with commas between them", "API_TOKEN"),
    "Further variables that the MCP server gets."
  ),
  mcpOrigins: optional(
    "CT_AGENT_MCP_ALLOW_ORIGIN",
    origins,
    "Pages of these origins may call the MCP server, beside those of its own host and of this machine."
  ),
  mcpScopes: optional(
    "CT_AGENT_MCP_SCOPES",
    scopes,
    "Scopes that clients of the MCP server ask for beside `openid` and `email`, where the identity provider makes tokens for its host by a scope."
  )
}

const needed = {
  mcpAddress: variables.mcpAddress.name,
  mcpPublic: variables.mcpPublic.name,
  mcpShare: variables.mcpShare.name,
  mcpTools: variables.mcpTools.name,
  mcpEnvironment: variables.mcpEnvironment.name,
  mcpOrigins: variables.mcpOrigins.name,
  mcpScopes: variables.mcpScopes.name
} as const
type Key = keyof typeof needed

/** They say nothing of another kind of origin. */
export const rules = (
  values: Readonly<Partial<Record<Key, unknown>>>,
  isMcp: boolean
): ReadonlyArray<Problems.Problem> =>
  Object.entries(needed).flatMap(([key, variable]) =>
    isMcp || values[key as Key] === undefined
      ? []
      : [Problems.problem(variable, "needs mcp: in CT_AGENT_ORIGIN", `set it, or unset ${variable}`)]
  )

/** How the server is offered. */
export interface McpSettings {
  readonly address: string
  readonly isPublic: boolean
  readonly isShared: boolean
  readonly tools: ToolLists
  readonly passes: ReadonlyArray<string>
  readonly origins: ReadonlyArray<string>
  /** Asked for beside `openid` and `email`. */
  readonly scopes: ReadonlyArray<string>
}

export interface Values {
  readonly hostname: string | undefined
  readonly mcpAddress: string | undefined
  readonly mcpPublic: boolean | undefined
  readonly mcpShare: boolean | undefined
  readonly mcpTools: ToolLists | undefined
  readonly mcpEnvironment: ReadonlyArray<string> | undefined
  readonly mcpOrigins: ReadonlyArray<string> | undefined
  readonly mcpScopes: ReadonlyArray<string> | undefined
}

export const of = (values: Values): McpSettings => ({
  address: values.mcpAddress ?? `https://${values.hostname ?? "localhost"}/`,
  isPublic: values.mcpPublic === true,
  isShared: values.mcpShare === true,
  tools: values.mcpTools ?? new Map(),
  passes: values.mcpEnvironment ?? [],
  origins: values.mcpOrigins ?? [],
  scopes: values.mcpScopes ?? []
})

/** The options of a service in the file. */
export const serviceOptions = new Map([
  [variables.mcpPublic.name, "mcp_public"],
  [variables.mcpShare.name, "mcp_share"],
  [variables.mcpTools.name, "mcp_tools"],
  [variables.mcpEnvironment.name, "mcp_env"],
  [variables.mcpOrigins.name, "mcp_allow_origin"],
  [variables.mcpScopes.name, "mcp_scopes"]
] as const)

type ServiceOptions = Pick<
  ServiceEntry,
  "mcp_public" | "mcp_share" | "mcp_tools" | "mcp_env" | "mcp_allow_origin" | "mcp_scopes"
>

/** The variables that a service of the file sets. */
export const ofService = ({
  mcp_allow_origin,
  mcp_env,
  mcp_public,
  mcp_scopes,
  mcp_share,
  mcp_tools
}: ServiceOptions) => ({
  ...(mcp_public === true && { [variables.mcpPublic.name]: "1" }),
  ...(mcp_share === true && { [variables.mcpShare.name]: "1" }),
  ...(mcp_env !== undefined && { [variables.mcpEnvironment.name]: mcp_env.join(",") }),
  ...(mcp_allow_origin !== undefined && { [variables.mcpOrigins.name]: mcp_allow_origin.join(",") }),
  ...(mcp_scopes !== undefined && { [variables.mcpScopes.name]: mcp_scopes.join(",") }),
  ...(mcp_tools !== undefined && {
    [variables.mcpTools.name]: Object.entries(mcp_tools)
      .map(([who, tools]) => `${who}=${tools.join(",")}`)
      .join(";")
  })
})

/** The options of a service that say the same as these variables. */
export const optionsOf = (given: Readonly<Record<string, string>>): ServiceOptions => {
  const text = (variable: Key) => Option.getOrElse(Record.get(given, needed[variable]), () => "")
  const lists = toolLists.parse(text("mcpTools"))
  return {
    ...(text("mcpPublic") === "1" && { mcp_public: true }),
    ...(text("mcpShare") === "1" && { mcp_share: true }),
    ...(lists !== undefined && { mcp_tools: Object.fromEntries(lists) }),
    ...(text("mcpEnvironment") !== "" && { mcp_env: text("mcpEnvironment").split(",") }),
    ...(text("mcpOrigins") !== "" && { mcp_allow_origin: text("mcpOrigins").split(",") }),
    ...(text("mcpScopes") !== "" && { mcp_scopes: text("mcpScopes").split(",") })
  }
}
