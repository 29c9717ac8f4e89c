/** Every page of a list of tools, of a local MCP server or of a peer. */
import type * as Json from "@catenet/crypto/Json"
import { Effect } from "effect"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import { memberOf } from "./McpResult.ts"

/** Pages that are read. */
const maxPages = 100

/** The entries of all pages; `ask` gets the parameters of a request for one. */
export const read = Effect.fnUntraced(function* <E>(ask: (params: JsonObject) => Effect.Effect<Json.Json, E>) {
  const entries: Array<JsonObject> = []
  let params: JsonObject = {}
  for (let page = 0; page < maxPages; page++) {
    const result = yield* ask(params)
    const tools = memberOf(result, "tools")
    if (Array.isArray(tools)) for (const entry of tools) if (isObject(entry)) entries.push(entry)
    const cursor = textOf(result, "nextCursor")
    if (cursor === undefined) break
    params = { cursor }
  }
  return entries
})
