/**
 * The configuration files of MCP clients, and their text with one server more. Everything else in a file stays as it is, comments
 * too. Pure.
 */
import * as Json from "@catenet/crypto/Json"
import { Data, Result } from "effect"
import { join } from "node:path"

export interface Entry {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

const names = ["claude", "cursor", "vscode", "codex"] as const
export type ClientName = (typeof names)[number]

export const isClient = (name: string): name is ClientName => names.some((each) => each === name)

/** The clients, for a sentence. */
export const listed = "claude (Claude Code), cursor, vscode or codex"

/** Where the client of a user keeps its servers. */
export const pathOf = (client: ClientName, home: string, platform: NodeJS.Platform): string => {
  const code = ["Code", "User", "mcp.json"]
  switch (client) {
    case "claude":
      return join(home, ".claude.json")
    case "cursor":
      return join(home, ".cursor", "mcp.json")
    case "codex":
      return join(home, ".codex", "config.toml")
    case "vscode":
      if (platform === "darwin") return join(home, "Library", "Application Support", ...code)
      return platform === "win32" ? join(home, "AppData", "Roaming", ...code) : join(home, ".config", ...code)
  }
}

/** The file cannot take the entry. */
export class EntryRefused extends Data.TaggedError("EntryRefused")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

const refused = (why: string) => Result.fail(new EntryRefused({ why }))

const member = (client: ClientName) => (client === "vscode" ? "servers" : "mcpServers")

const lines = (entry: Entry, name: string, isTyped: boolean) =>
  `    ${Json.write(name)}: ${JSON.stringify(isTyped ? { type: "stdio", ...entry } : entry, undefined, 2).replaceAll("\n", "\n    ")}`

const tableOf = (name: string, { args, command }: Entry) =>
  `[mcp_servers.${name}]\ncommand = ${Json.write(command)}\nargs = ${Json.write(args)}\n`

/** What a person would write into the file. */
export const blockOf = (client: ClientName, name: string, entry: Entry): string =>
  client === "codex"
    ? tableOf(name, entry)
    : `{\n  "${member(client)}": {\n${lines(entry, name, client === "vscode")}\n  }\n}\n`

const token = /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,/]+/y

/** Where an object begins behind its brace, and the names of its members. */
interface Found {
  at: number
  readonly members: Array<string>
}

/** The outermost object of a text in JSON with comments, and that of a member; undefined if the text is none. */
const scan = (text: string, wanted: string) => {
  const root: Found = { at: -1, members: [] }
  const servers: Found = { at: -1, members: [] }
  const open: Array<string> = []
  let [last, isInside, isOther] = ["", false, false]
  for (token.lastIndex = 0; token.lastIndex < text.length;) {
    const start = token.lastIndex
    const found = token.exec(text)?.[0]
    if (found === undefined) return undefined
    if (/^(?:\s|\/[/*])/u.test(found)) continue
    if (open.length === 0 && (root.at !== -1 || found !== "{")) return undefined
    if (found === ":") {
      const name = Result.getOrUndefined(Json.parse(last))
      if (typeof name !== "string" || open.at(-1) !== "{") return undefined
      if (open.length === 1) {
        root.members.push(name)
        isInside = name === wanted
        isOther ||= isInside && !/^\s*\{/u.test(text.slice(token.lastIndex))
      } else if (open.length === 2 && isInside) servers.members.push(name)
    }
    if (found === "{" || found === "[") {
      if (open.length === 0) root.at = start + 1
      if (open.length === 1 && isInside) servers.at = start + 1
      open.push(found)
    }
    if ((found === "}" || found === "]") && open.pop() !== (found === "}" ? "{" : "[")) return undefined
    last = found
  }
  return open.length > 0 || root.at === -1 || isOther ? undefined : { root, servers }
}

const inJson = (text: string, client: ClientName, name: string, entry: Entry): Result.Result<string, EntryRefused> => {
  if (text.trim() === "") return Result.succeed(blockOf(client, name, entry))
  const wanted = member(client)
  const found = scan(text, wanted)
  if (found === undefined) return refused(`it is not a JSON object whose ${wanted} are an object`)
  const { root, servers } = found
  if (servers.members.includes(name)) return refused(`it has an entry ${name} already`)
  const insert = (at: number, what: string, isLast: boolean, end: string) =>
    Result.succeed(`${text.slice(0, at)}\n${what}${isLast ? end : ","}${text.slice(at)}`)
  const added = lines(entry, name, client === "vscode")
  return servers.at === -1
    ? insert(root.at, `  "${wanted}": {\n${added}\n  }`, root.members.length === 0, "\n")
    : insert(servers.at, added, servers.members.length === 0, "\n  ")
}

const inToml = (text: string, name: string, entry: Entry): Result.Result<string, EntryRefused> => {
  if (new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*["']?${name}["']?\\s*[.\\]]`, "mu").test(text))
    return refused(`it has an entry ${name} already`)
  if (/^\s*mcp_servers\s*[.=]/mu.test(text)) return refused("its mcp_servers are not tables")
  return Result.succeed(`${text}${text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n"}${tableOf(name, entry)}`)
}

/** The text of the file with the entry. */
export const added = (
  text: string,
  client: ClientName,
  name: string,
  entry: Entry
): Result.Result<string, EntryRefused> =>
  client === "codex" ? inToml(text, name, entry) : inJson(text, client, name, entry)
