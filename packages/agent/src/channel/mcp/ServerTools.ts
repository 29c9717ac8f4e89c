/** The tools of an MCP server, as far as they have been listed, and the member's own behind them. */
import type * as Json from "@catenet/crypto/Json"
import { isObject, type JsonObject, textOf, type Tool } from "../rpc/Tool.ts"
import { listed, memberOf } from "./McpResult.ts"

/** In front of an own tool, where the server has one of its name; callers may always write it. */
const prefix = "agent/"

export class ServerTools {
  readonly #own: ReadonlyArray<Tool>
  /** Whether the server's tool of this name changes nothing. */
  readonly #readOnly = new Map<string, boolean>()
  /** Whether all tools of the server are known. */
  isListed = false

  constructor(own: ReadonlyArray<Tool>) {
    this.#own = own
  }

  /** Takes a page of the server's list; a server that has no tools has answered an error. */
  note(result: Json.Json | undefined): void {
    const tools = memberOf(result, "tools")
    for (const tool of Array.isArray(tools) ? tools : []) {
      const name = textOf(tool, "name")
      const hint = memberOf(memberOf(tool, "annotations"), "readOnlyHint")
      if (name !== undefined) this.#readOnly.set(name, hint === true)
    }
    if (memberOf(result, "nextCursor") === undefined) this.isListed = true
  }

  /** The server's tools have changed. */
  clear(): void {
    this.#readOnly.clear()
    this.isListed = false
  }

  isReadOnly(name: string): boolean {
    return this.#readOnly.get(name) === true
  }

  /** Whether the name is one of an own tool, which the server's list decides. */
  mayBeOwn(called: string): boolean {
    return this.#own.some(({ name }) => name === called || `${prefix}${name}` === called)
  }

  /** The own tool that this name calls: none where the server has a tool of that name. */
  own(called: string): Tool | undefined {
    if (this.#readOnly.has(called)) return undefined
    return this.#own.find(({ name }) => name === called || `${prefix}${name}` === called)
  }

  /** The last page of the server's list, which has been noted, with the own tools behind it. */
  joined(result: Json.Json | undefined): JsonObject {
    const tools = memberOf(result, "tools")
    const own = this.#own.map((tool) => {
      const name = this.#readOnly.has(tool.name) ? `${prefix}${tool.name}` : tool.name
      return listed({ description: tool.description, ...tool.listed, name })
    })
    return { ...(isObject(result) ? result : {}), tools: [...(Array.isArray(tools) ? tools : []), ...own] }
  }
}
