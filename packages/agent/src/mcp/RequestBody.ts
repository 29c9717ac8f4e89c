/** The messages in the body of a POST: read within bounds, and checked against the fields that repeat parts of it. */
import type * as Json from "@catenet/crypto/Json"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { Result } from "effect"
import type { IncomingMessage } from "node:http"
import { memberOf } from "../channel/mcp/McpResult.ts"
import { maxMessage } from "../channel/mcp/MessageFrames.ts"
import { parse } from "../channel/mcp/StdioTransport.ts"
import { isObject, type JsonObject, textOf } from "../channel/rpc/Tool.ts"

/** Bodies larger than this take a place while they are read, and there are so many places. */
const smallBody = 64 * 1024
export const maxLargeBodies = 8

/** Messages of one batch. */
const maxBatch = 100

/** The request is answered with this status and a JSON-RPC error. */
export class Unacceptable extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, why: string, code = -32_000) {
    super(why)
    this.status = status
    this.code = code
  }
}

const tooLarge = () => new Unacceptable(413, `A message may have ${maxMessage} bytes.`)
const tooMany = () => new Unacceptable(429, "Too many large messages are being read. Try again in a moment.")

const places = new FairPlaces(maxLargeBodies)

/** The bytes of the body. */
export const read = async (request: IncomingMessage, key: string): Promise<Buffer> => {
  if (Number(request.headers["content-length"] ?? 0) > maxMessage) throw tooLarge()
  const parts: Array<Buffer> = []
  let length = 0
  let isEvicted = false
  let leave: (() => void) | undefined
  const evict = () => {
    isEvicted = true
    parts.length = 0
  }
  try {
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      parts.push(part)
      length += part.length
      if (length > maxMessage) throw tooLarge()
      if (length > smallBody && leave === undefined) {
        leave = places.take(key, { isIdle: () => false, evict })
        if (leave === undefined) throw tooMany()
      }
      if (isEvicted) throw tooMany()
    }
    return Buffer.concat(parts, length)
  } finally {
    leave?.()
  }
}

const isMessage = (value: Json.Json): value is JsonObject => isObject(value) && memberOf(value, "jsonrpc") === "2.0"

/** The messages of a body; several of them are a batch. */
export const messagesIn = (body: Buffer): ReadonlyArray<JsonObject> => {
  const value = Result.getOrUndefined(parse(body.toString("utf8")))
  if (value === undefined) throw new Unacceptable(400, "The body is not JSON.", -32_700)
  const all: ReadonlyArray<Json.Json> = Array.isArray(value) ? value : [value]
  const messages = all.filter(isMessage)
  if (all.length === 0 || messages.length < all.length)
    throw new Unacceptable(400, "The body is not a JSON-RPC 2.0 message.", -32_600)
  if (all.length > maxBatch) throw new Unacceptable(400, `A batch may have ${maxBatch} messages.`, -32_600)
  return messages
}

/** What says in each request since 2026-07-28 which revision it is of. */
export const claimOf = (message: JsonObject): string | undefined =>
  textOf(memberOf(memberOf(message, "params"), "_meta") ?? null, "io.modelcontextprotocol/protocolVersion")

/** The member of the parameters that the field `Mcp-Name` repeats. */
const named = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const decoded = (field: string) => {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/u.exec(field) ?? []
  return base64 === undefined ? field : Buffer.from(base64, "base64").toString("utf8")
}

/** Fails where the fields of a request say otherwise than its body: what is between may go by them. */
export const checkFields = ({ headers }: IncomingMessage, message: JsonObject): void => {
  const differs = (field: string) =>
    new Unacceptable(400, `The field ${field} is missing or says otherwise than the message.`, -32_020)
  if (headers["mcp-protocol-version"] !== claimOf(message)) throw differs("MCP-Protocol-Version")
  const method = memberOf(message, "method")
  if (headers["mcp-method"] !== method) throw differs("Mcp-Method")
  const member = named.get(String(method))
  const name = member === undefined ? undefined : textOf(memberOf(message, "params") ?? null, member)
  if (name !== undefined && decoded(headers["mcp-name"]?.toString() ?? "") !== name) throw differs("Mcp-Name")
}
