/** Maps the contract's tools and errors to MCP. */
import * as Json from "@catenet/crypto/Json"
import { codes } from "@catenet/crypto/rpc/Envelope"
import { Effect, Option, Record } from "effect"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"

// All pages of a list, from a local MCP server or a peer.

/** Pages that are read. */
const maxPages = 100

/** The entries of all pages; `ask` gets the parameters of each request, `member` is where a result has its entries. */
export const read = Effect.fnUntraced(function* <E>(
  ask: (params: JsonObject) => Effect.Effect<Json.Json, E>,
  member = "tools"
) {
  const entries: Array<JsonObject> = []
  let params: JsonObject = {}
  for (let page = 0; page < maxPages; page++) {
    const result = yield* ask(params)
    const listed = memberOf(result, member)
    if (Array.isArray(listed)) for (const entry of listed) if (isObject(entry)) entries.push(entry)
    const cursor = textOf(result, "nextCursor")
    if (cursor === undefined) break
    params = { cursor }
  }
  return entries
})

/** Versions of the Model Context Protocol that local clients and servers may speak here. */
export const newest = "2025-11-25"
const versions = new Set([newest, "2025-06-18", "2025-03-26", "2024-11-05"])

/** The protocol version to answer to a client that asks for this one. */
export const versionFor = (asked: string | undefined): string =>
  asked !== undefined && versions.has(asked) ? asked : newest

/** Whether this version allows several messages in one line: MCP had JSON-RPC batches before 2025-06-18. */
export const allowsBatches = (version: string | undefined): boolean =>
  version === "2025-03-26" || version === "2024-11-05"

/** A member of an object, however it is called. */
export const memberOf = (value: Json.Json | undefined, name: string): Json.Json | undefined =>
  isObject(value) ? Option.getOrUndefined(Record.get(value, name)) : undefined

const anyObject: JsonObject = { type: "object" }
const inputText: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The request." } },
  required: ["input"]
}

/** An entry of `tools/list` with the schema that MCP requires; the contract's tools have none. */
export const listed = (entry: Json.Json): JsonObject => {
  const name = textOf(entry, "name") ?? ""
  const schema = memberOf(entry, "inputSchema") ?? (name.startsWith("service/") ? inputText : anyObject)
  return { ...(isObject(entry) ? entry : {}), inputSchema: schema }
}

const textContent = (text: string): Json.Json => [{ type: "text", text }]

/** The result of a call: an MCP result of the peer unchanged, or a contract value as text and structured content. */
export const resultOf = (value: Json.Json): JsonObject => {
  if (isObject(value) && Array.isArray(memberOf(value, "content"))) return value
  const output = isObject(value) && Object.keys(value).length === 1 ? textOf(value, "output") : undefined
  return {
    content: textContent(output ?? (typeof value === "string" ? value : Json.write(value))),
    ...(isObject(value) ? { structuredContent: value } : {})
  }
}

/** A failed tool: a result that models can read. */
export const failure = (text: string): JsonObject => ({ content: textContent(text), isError: true })

/** The answer to a request that the server could not answer: of a call a result that models can read. */
export const unanswered = (method: string | undefined, id: Json.Json, why: string): JsonObject =>
  method === "tools/call"
    ? { jsonrpc: "2.0", id, result: failure(why) }
    : { jsonrpc: "2.0", id, error: { code: BigInt(codes.toolFailed), message: why } }

/** Whether an error of the peer is about the request itself, and so an error of the protocol here as well. */
export const isProtocolError = (code: number | undefined): boolean =>
  code === codes.invalidParams || code === codes.methodNotFound
