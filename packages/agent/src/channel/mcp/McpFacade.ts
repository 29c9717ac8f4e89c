/**
 * A standard MCP server on stdin and stdout, whose tools are those of the channel's peer. Tools are listed live; the client is
 * notified of changes; progress and cancellation pass through.
 */
import type * as Json from "@catenet/crypto/Json"
import * as JsonText from "@catenet/crypto/Json"
import { Effect, Fiber, FiberSet, Queue } from "effect"
import type { Readable, Writable } from "node:stream"
import { version } from "../../Version.ts"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import * as McpResult from "./McpResult.ts"
import { allowsBatches, versionFor } from "./McpResult.ts"
import type { News, PeerFailed, PeerConnection } from "./PeerConnection.ts"
import { readLines, type Unreadable, writeLine } from "./StdioTransport.ts"

const { memberOf } = McpResult

class ProtocolError {
  readonly code: bigint
  readonly message: string
  constructor(code: bigint, message: string) {
    this.code = code
    this.message = message
  }
}

/** Why not everything of MCP passes. */
const onlyTools = "Only tools pass: the peer's agent is older than this one, or was not there when this client started."

const invalidRequest = -32_600n
const parseError = -32_700n

const initialized = (params: Json.Json | undefined): JsonObject => ({
  protocolVersion: versionFor(params === undefined ? undefined : textOf(params, "protocolVersion")),
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "ct-agent", title: "The peer of a Catenet channel", version }
})

/** In one page, because not every client asks for the next. */
const list = (link: PeerConnection) =>
  Effect.map(
    McpResult.read((params) => link.call("tools/list", params)),
    (entries): JsonObject => ({ tools: entries.map(McpResult.listed) })
  ).pipe(Effect.mapError((error: PeerFailed) => new ProtocolError(-32_603n, error.message)))

const call = (
  link: PeerConnection,
  params: Json.Json | undefined,
  report: ((progress: JsonObject) => void) | undefined
) => {
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

/** Between two notifications to the client that the tools have changed, however many the peer sends. */
const announcePause = "500 millis"

/** A client on stdin and stdout. */
interface Client {
  readonly link: PeerConnection
  readonly stdout: Writable
  /** Running calls by the id of their request. */
  readonly running: Map<Json.Json, Fiber.Fiber<void>>
  /** Protocol version, once negotiated. */
  version: string | undefined
  /** The last answer to tools/list: the list, or undefined if it failed. */
  known: { readonly list: string | undefined } | undefined
}

const listFor = (client: Client) =>
  list(client.link).pipe(
    Effect.tap((result) => Effect.sync(() => (client.known = { list: JsonText.write(result) }))),
    Effect.tapError(() => Effect.sync(() => (client.known = { list: undefined })))
  )

const resultOf = (
  client: Client,
  method: string,
  params: Json.Json | undefined
): Effect.Effect<JsonObject, ProtocolError> => {
  const progressToken = memberOf(memberOf(params, "_meta"), "progressToken")
  const report = (progress: JsonObject) =>
    writeLine(client.stdout, {
      jsonrpc: "2.0",
      method: Notification.progress,
      params: { ...progress, progressToken: progressToken ?? null }
    })
  switch (method) {
    case "initialize": {
      const result = initialized(params)
      client.version = textOf(result, "protocolVersion")
      return Effect.succeed(result)
    }
    case "ping":
      return Effect.succeed({})
    case "tools/list":
      return listFor(client)
    case "tools/call":
      return call(client.link, params, progressToken === undefined ? undefined : report)
    default:
      return Effect.fail(new ProtocolError(-32_601n, `unknown method: ${method}. ${onlyTools}`))
  }
}

const refusal = (id: Json.Json, code: bigint, message: string): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: { code, message }
})

const notified = ({ running }: Client, method: string, params: Json.Json | undefined) => {
  const fiber = method === Notification.cancelled ? running.get(memberOf(params, "requestId") ?? null) : undefined
  return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
}

/** The response to a message; undefined if it is no request, or the client has cancelled it. */
const respond = (client: Client, message: JsonObject): Effect.Effect<JsonObject | undefined> => {
  const method = memberOf(message, "method")
  const id = memberOf(message, "id")
  const params = memberOf(message, "params")
  if (typeof method !== "string") return Effect.undefined
  if (id === undefined || isObject(id)) return Effect.as(notified(client, method, params), undefined)
  const answered = resultOf(client, method, params).pipe(
    Effect.match({
      onSuccess: (result): JsonObject => ({ jsonrpc: "2.0", id, result }),
      onFailure: ({ code, message }) => refusal(id, code, message)
    })
  )
  return Effect.gen(function* () {
    let answer: JsonObject | undefined
    const fiber = yield* Effect.forkChild(Effect.map(answered, (found) => void (answer = found)))
    client.running.set(id, fiber)
    // The specification requires no response to a cancelled request.
    yield* Fiber.await(fiber)
    if (client.running.get(id) === fiber) client.running.delete(id)
    return answer
  })
}

const respondToBatch = Effect.fnUntraced(function* (client: Client, messages: ReadonlyArray<Json.Json>) {
  const { stdout, version } = client
  if (!allowsBatches(version) || messages.length === 0) {
    const why =
      messages.length === 0 ? "the batch is empty" : `MCP ${version ?? "before initialize"} has no batches of messages`
    return writeLine(stdout, refusal(null, invalidRequest, why))
  }
  const answers = yield* Effect.forEach(
    messages,
    (message) =>
      isObject(message)
        ? memberOf(message, "method") === "initialize"
          ? Effect.succeed(refusal(memberOf(message, "id") ?? null, invalidRequest, "initialize comes alone"))
          : respond(client, message)
        : Effect.succeed(refusal(null, invalidRequest, "not a request object")),
    { concurrency: "unbounded" }
  )
  const found = answers.filter((answer) => answer !== undefined)
  if (found.length > 0) writeLine(stdout, found)
})

const refuseUnreadable = ({ stdout }: Client, { id = null, isTooLong, why }: Unreadable) =>
  Effect.andThen(
    Effect.logWarning(`a message of the MCP client was refused: it ${why}`),
    Effect.sync(() => writeLine(stdout, refusal(id, isTooLong ? invalidRequest : parseError, `the message ${why}`)))
  )

/** Whether the client's list may be outdated. */
const isOutdated = Effect.fnUntraced(function* ({ known, link }: Client, news: ReadonlyArray<News>) {
  if (known === undefined) return false
  if (known.list === undefined || news.includes("changed")) return true
  const now = yield* Effect.option(list(link))
  return now._tag === "Some" && JsonText.write(now.value) !== known.list
})

const announceChanges = Effect.fnUntraced(function* (client: Client) {
  const news = yield* Queue.takeAll(client.link.news)
  if (yield* isOutdated(client, news)) writeLine(client.stdout, { jsonrpc: "2.0", method: Notification.toolsChanged })
  yield* Effect.sleep(announcePause)
})

/** Serves until the client closes its end. */
export const serve = Effect.fn("McpFacade.serve")(function* (link: PeerConnection, stdin: Readable, stdout: Writable) {
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  const client: Client = { link, stdout, running: new Map(), version: undefined, known: undefined }
  yield* Effect.forkScoped(Effect.forever(announceChanges(client)))
  yield* Effect.callback<void>((resume) => {
    const over = () => resume(Effect.void)
    readLines(stdin, {
      onMessage: (message) => {
        const answering = Effect.map(respond(client, message), (answer) => {
          if (answer !== undefined) writeLine(stdout, answer)
        })
        run(answering)
      },
      onBatch: (messages) => void run(respondToBatch(client, messages)),
      onUnreadable: (line) => void run(refuseUnreadable(client, line))
    })
    stdin.once("end", over)
    stdin.once("close", over)
    stdout.once("error", over)
  })
  // A client that closes its end may still wait for responses.
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), "2 seconds")
}, Effect.scoped)
