/**
 * The JSON-RPC envelope of calls over a channel (section 20): strictly one request, one response, in order. Methods are
 * implemented by the agent; this file only parses, writes and frames messages.
 */
import { Data, Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Json from "../Json.ts"

/** A request. A missing id is `null` and is answered all the same. */
export interface Request {
  readonly id: Json.Json
  readonly method: string
  readonly params: Json.Json | undefined
}

/** The codes in use. */
export const codes = {
  /** Not JSON, or no request object; batches are none. */
  parseError: -32700,
  methodNotFound: -32601,
  invalidParams: -32602,
  toolFailed: -32000,
  /** The response could not be encoded. */
  internal: -32603
} as const

/** An error that becomes a response. */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly id: Json.Json
  readonly code: (typeof codes)[keyof typeof codes]
  readonly reason: string
}> {
  override get message() {
    return this.reason
  }
}

/** A `tools/call`. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Json.Json
}

/** Maximum bytes of a message, without its length prefix. */
export const maxMessage = 65_535

const isObject = (value: Json.Json | undefined): value is { readonly [key: string]: Json.Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Reads a request; ignores `jsonrpc`.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * const read = (text) => Envelope.readRequest(new TextEncoder().encode(text))
 * strictEqual(Result.getOrThrow(read('{"id":7,"method":"tools/list"}')).id, 7n)
 * strictEqual(Result.getOrThrow(Result.flip(read("[]"))).code, -32700)
 * ```
 */
export const readRequest = (message: Uint8Array): Result.Result<Request, RpcError> => {
  const refused = (reason: string) => Result.fail(new RpcError({ id: null, code: codes.parseError, reason }))
  const value = Result.flatMap(Bytes.toText(message), Json.parse)
  if (Result.isFailure(value)) return refused("not JSON")
  if (!isObject(value.success)) return refused("not a request object")
  const { id = null, method, params } = value.success
  return typeof method === "string" ? Result.succeed({ id, method, params }) : refused("no method")
}

/**
 * The tool a `tools/call` names, with its arguments; none given are an empty object.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * const call = (params) => Envelope.toolCall({ id: 1n, method: "tools/call", params })
 * strictEqual(Result.getOrThrow(call({ name: "ping" })).name, "ping")
 * strictEqual(Result.getOrThrow(Result.flip(call({}))).code, -32602)
 * ```
 */
export const toolCall = ({ id, params }: Request): Result.Result<ToolCall, RpcError> => {
  const name = isObject(params) ? params["name"] : undefined
  if (typeof name !== "string") {
    return Result.fail(new RpcError({ id, code: codes.invalidParams, reason: "tools/call wants a name" }))
  }
  return Result.succeed({ name, arguments: (isObject(params) ? params["arguments"] : undefined) ?? {} })
}

/**
 * A request's text.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * strictEqual(Envelope.request(1n, "tools/list"), '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
 * ```
 */
export const request = (id: Json.Json, method: string, params?: Json.Json): string =>
  Json.write({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })

/**
 * A response's text.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * strictEqual(Envelope.success(1n, { reply: "pong" }), '{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}')
 * ```
 */
export const success = (id: Json.Json, result: Json.Json): string => Json.write({ jsonrpc: "2.0", id, result })

/**
 * An error response's text.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * const error = new Envelope.RpcError({ id: "x", code: Envelope.codes.methodNotFound, reason: "unknown method" })
 * strictEqual(
 *   Envelope.failure(error),
 *   '{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"unknown method"}}'
 * )
 * ```
 */
export const failure = ({ id, code, reason }: RpcError): string => refusal(id, code, reason)

/**
 * The text of an error response with any code, such as one that is passed on.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * strictEqual(Envelope.refusal(1n, -1, "no"), '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}')
 * ```
 */
export const refusal = (id: Json.Json, code: number, reason: string): string =>
  Json.write({ jsonrpc: "2.0", id, error: { code: BigInt(code), message: reason } })

/**
 * The bytes of a response that fits a message: the response itself, or an error in its place when it is too long.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * const response = Envelope.success(1n, "x".repeat(70000))
 * ok(new TextDecoder().decode(Envelope.fitting(1n, response)).includes('"code":-32000'))
 * ```
 */
export const fitting = (id: Json.Json, response: string): Uint8Array => {
  const bytes = Bytes.fromText(response.toWellFormed())
  if (bytes.length <= maxMessage) return bytes
  const reason = `the response has ${bytes.length} bytes, more than ${maxMessage}`
  return Bytes.fromText(failure(new RpcError({ id, code: codes.toolFailed, reason })))
}

/**
 * Reads a response: its result, or the error it carries. A malformed response is an error too.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Envelope from "@catenet/crypto/rpc/Envelope"
 *
 * const message = new TextEncoder().encode(Envelope.success(1n, "pong"))
 * strictEqual(Result.getOrThrow(Envelope.readResponse(message)), "pong")
 * ```
 */
export const readResponse = (message: Uint8Array): Result.Result<Json.Json, ResponseError> => {
  const value = Result.flatMap(Bytes.toText(message), Json.parse)
  if (Result.isFailure(value) || !isObject(value.success)) {
    return Result.fail(new ResponseError({ code: undefined, reason: "not a response" }))
  }
  const { result, error } = value.success
  if (isObject(error)) {
    const { code, message: reason } = error
    return Result.fail(
      new ResponseError({
        code: typeof code === "bigint" ? Number(code) : undefined,
        reason: typeof reason === "string" ? reason : "no message"
      })
    )
  }
  return result === undefined
    ? Result.fail(new ResponseError({ code: undefined, reason: "neither result nor error" }))
    : Result.succeed(result)
}

/** The other side answered with an error, or with something that is no answer (no code then). */
export class ResponseError extends Data.TaggedError("ResponseError")<{
  readonly code: number | undefined
  readonly reason: string
}> {
  override get message() {
    return this.code === undefined ? this.reason : `${this.reason} (${this.code})`
  }
}
