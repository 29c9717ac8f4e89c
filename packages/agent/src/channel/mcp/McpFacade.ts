/**
 * A standard MCP server for local clients, on stdin and stdout, whose tools are those of the peer at the other end of a channel. They
 * are listed live; progress and cancellation pass through.
 */
import type * as Json from "@catenet/crypto/Json"
import { Effect, Fiber, FiberSet } from "effect"
import type { Readable, Writable } from "node:stream"
import { version } from "../../Version.ts"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import { readLines, writeLine } from "./LineMessages.ts"
import * as McpResult from "./McpResult.ts"
import type { PeerFailed, PeerLink } from "./PeerLink.ts"
import * as ToolPages from "./ToolPages.ts"
import { versionFor } from "./Versions.ts"

const { memberOf } = McpResult

class ProtocolError {
  readonly code: bigint
  readonly message: string
  constructor(code: bigint, message: string) {
    this.code = code
    this.message = message
  }
}

const initialized = (params: Json.Json | undefined): JsonObject => ({
  protocolVersion: versionFor(params === undefined ? undefined : textOf(params, "protocolVersion")),
  capabilities: { tools: {} },
  serverInfo: { name: "ct-agent", title: "The peer of a Catenet channel", version }
})

/** In one page, whatever the client is: not every one asks for the next. */
const list = (link: PeerLink) =>
  Effect.map(
    ToolPages.read((params) => link.call("tools/list", params)),
    (entries): JsonObject => ({ tools: entries.map(McpResult.listed) })
  ).pipe(Effect.mapError((error: PeerFailed) => new ProtocolError(-32_603n, error.message)))

const call = (link: PeerLink, params: Json.Json | undefined, report: ((progress: JsonObject) => void) | undefined) => {
  const name = params === undefined ? undefined : textOf(params, "name")
  if (name === undefined) return Effect.fail(new ProtocolError(-32_602n, "tools/call wants a name"))
  const wanted = { name, arguments: memberOf(params, "arguments") ?? {} }
  return Effect.map(link.call("tools/call", wanted, report), McpResult.resultOf).pipe(
    Effect.catchTag("PeerFailed", ({ code, reason }) =>
      McpResult.isProtocolError(code)
        ? Effect.fail(new ProtocolError(BigInt(code ?? 0), reason))
        : Effect.succeed(McpResult.failure(reason))
    )
  )
}

/** Serves until the client closes its end. */
export const serve = Effect.fn("McpFacade.serve")(function* (link: PeerLink, stdin: Readable, stdout: Writable) {
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  const running = new Map<Json.Json, Fiber.Fiber<void>>()

  const resultOf = (method: string, params: Json.Json | undefined): Effect.Effect<JsonObject, ProtocolError> => {
    const token = memberOf(memberOf(params, "_meta"), "progressToken")
    const report =
      token === undefined
        ? undefined
        : (progress: JsonObject) =>
            writeLine(stdout, {
              jsonrpc: "2.0",
              method: "notifications/progress",
              params: { ...progress, progressToken: token }
            })
    switch (method) {
      case "initialize":
        return Effect.succeed(initialized(params))
      case "ping":
        return Effect.succeed({})
      case "tools/list":
        return list(link)
      case "tools/call":
        return call(link, params, report)
      default:
        return Effect.fail(new ProtocolError(-32_601n, `unknown method: ${method}`))
    }
  }

  const answer = (id: Json.Json, method: string, params: Json.Json | undefined) =>
    resultOf(method, params).pipe(
      Effect.match({
        onSuccess: (result) => writeLine(stdout, { jsonrpc: "2.0", id, result }),
        onFailure: ({ code, message }) => writeLine(stdout, { jsonrpc: "2.0", id, error: { code, message } })
      }),
      Effect.ensuring(Effect.sync(() => running.delete(id)))
    )

  const receive = (message: JsonObject) => {
    const method = memberOf(message, "method")
    const id = memberOf(message, "id")
    const params = memberOf(message, "params")
    if (typeof method !== "string") return
    if (id !== undefined && !isObject(id)) return void running.set(id, run(answer(id, method, params)))
    if (method !== "notifications/cancelled") return
    const fiber = running.get(memberOf(params, "requestId") ?? null)
    // The specification wants no response to a request that was cancelled.
    if (fiber !== undefined) run(Fiber.interrupt(fiber))
  }

  yield* Effect.callback<void>((resume) => {
    const over = () => resume(Effect.void)
    stdin.once("end", over)
    stdin.once("close", over)
    stdout.once("error", over)
    readLines(stdin, receive, over)
  })
  // A client that closes its end may still wait for answers.
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), "2 seconds")
}, Effect.scoped)
