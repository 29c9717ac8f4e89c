/**
 * One run of a stdio MCP server and the requests that wait for its answers. A server of one client gets its messages as they are; one of
 * several gets ids and progress tokens of this program, because those of its clients may be equal.
 */
import type * as Json from "@catenet/crypto/Json"
import { Effect, FiberSet, Result } from "effect"
import type { Readable, Writable } from "node:stream"
import * as McpProcess from "../channel/mcp/McpProcess.ts"
import { memberOf, unanswered } from "../channel/mcp/McpResult.ts"
import { bytesOf, isResponse, keyOf, parse, passLine, readLines } from "../channel/mcp/StdioTransport.ts"
import * as Notification from "../channel/rpc/Notification.ts"
import { isObject, type JsonObject } from "../channel/rpc/Tool.ts"
import type { Command } from "../channel/serve/HandlerProcess.ts"
import type { Outlet } from "./MessageStream.ts"

/** Where the server reads and writes. */
interface Streams {
  readonly stdin: Writable
  readonly stdout: Readable
}

/** A client of the server. */
export interface Peer {
  /** A message of the server that belongs to no request. */
  readonly onMessage: (line: Uint8Array) => void
  /** Changes the answer to a request, where its client must not see all of it. */
  readonly filtered?: ((method: string, answer: JsonObject) => JsonObject | undefined) | undefined
}

interface Waiting {
  readonly peer: Peer
  /** The request's own id, and the one that the server knows. */
  readonly id: Json.Json
  readonly own: Json.Json
  readonly method: string
  readonly token: Json.Json | undefined
  readonly outlet: Outlet
}

/** Requests of one client that may wait for an answer. */
const maxPending = 1024

const subscription = "io.modelcontextprotocol/subscriptionId"
const errorOf = (id: Json.Json, code: bigint, message: string) =>
  bytesOf({ jsonrpc: "2.0", id, error: { code, message } })

const withMeta = (params: Json.Json | undefined, name: string, value: Json.Json): JsonObject => {
  const meta = memberOf(params, "_meta")
  return { ...(isObject(params) ? params : {}), _meta: { ...(isObject(meta) ? meta : {}), [name]: value } }
}

export class ServerProcess {
  readonly #child: Streams
  readonly #isShared: boolean
  readonly #waiting = new Map<string, Waiting>()
  readonly #peers = new Set<Peer>()
  #next = 1n
  #initialized: JsonObject | undefined
  /** Why it is over, as a clause. */
  #end: string | undefined

  constructor(child: Streams, isShared: boolean, onUnreadable: (why: string) => void) {
    this.#child = child
    this.#isShared = isShared
    readLines(child.stdout, {
      // A carriage return would end a line of an event.
      onMessage: (message, line) => this.#receive(message, line.includes(13) ? bytesOf(message) : line),
      onBatch: (batch) => {
        for (const message of batch) if (isObject(message)) this.#receive(message, bytesOf(message))
      },
      onUnreadable: ({ id, isRequest, why }) => {
        onUnreadable(why)
        const waiting = id === undefined || isRequest ? undefined : this.#take(keyOf(id))
        if (waiting !== undefined)
          waiting.outlet.answer(bytesOf(unanswered(waiting.method, waiting.id, `the answer of the MCP server ${why}`)))
      }
    })
  }

  /** The result of `initialize` that all clients get, where they share a server. */
  get initialized(): JsonObject | undefined {
    return this.#initialized
  }

  /** Initializes the server for all its clients. What it then says of itself is its answer, or why there is none. */
  async initialize(protocolVersion: string, clientInfo: Json.Json): Promise<void> {
    const params = { protocolVersion, capabilities: {}, clientInfo }
    const message = { jsonrpc: "2.0", id: 0n, method: "initialize", params }
    const peer: Peer = { onMessage: () => undefined }
    const answer = await new Promise<Uint8Array>((resolve) => {
      const outlet = { send: () => undefined, abandon: () => undefined, answer: resolve }
      this.request(peer, message, bytesOf(message), outlet)
    })
    const read = Result.getOrUndefined(parse(Buffer.from(answer).toString("utf8")))
    const result = memberOf(read, "result")
    if (isObject(result)) this.#initialized = result
    this.#write(bytesOf({ jsonrpc: "2.0", method: "notifications/initialized" }))
  }

  get end(): string | undefined {
    return this.#end
  }

  join(peer: Peer): void {
    this.#peers.add(peer)
  }

  /** Its requests get no answer any more. */
  leave(peer: Peer): void {
    this.#peers.delete(peer)
    for (const [key, waiting] of this.#waiting) if (waiting.peer === peer) this.#cancel(key, waiting)
  }

  /** How many requests of this client wait for an answer. */
  waitingOf(peer: Peer): number {
    let count = 0
    for (const waiting of this.#waiting.values()) if (waiting.peer === peer) count++
    return count
  }

  /** Where what belongs to no request goes if the client has no stream for it: to its newest request that ends by itself. */
  newestOf(peer: Peer): Outlet | undefined {
    return [...this.#waiting.values()].findLast((each) => each.peer === peer && each.method !== "subscriptions/listen")
      ?.outlet
  }

  request(peer: Peer, message: JsonObject, line: Uint8Array, outlet: Outlet): void {
    const { id = null, method, params } = message
    const refuse = (code: bigint, why: string) => outlet.answer(errorOf(id, code, why))
    if (this.#end !== undefined) return outlet.answer(bytesOf(unanswered(String(method), id, this.#end)))
    if (this.waitingOf(peer) >= maxPending) return refuse(-32_000n, `${maxPending} requests wait for an answer already`)
    const own = this.#isShared ? this.#next++ : id
    if (this.#waiting.has(keyOf(own))) return refuse(-32_600n, "another request with this id waits for its answer")
    const token = memberOf(memberOf(params, "_meta"), "progressToken")
    this.#waiting.set(keyOf(own), { peer, id, own, method: String(method), token, outlet })
    if (!this.#isShared) return this.#write(line)
    const more = token === undefined ? {} : { params: withMeta(params, "progressToken", own) }
    this.#write(bytesOf({ ...message, id: own, ...more }))
  }

  /** A notification of the client's, or its answer to a request of the server. */
  notify(peer: Peer, message: JsonObject, line: Uint8Array): void {
    const method = memberOf(message, "method")
    if (this.#initialized !== undefined && method === "notifications/initialized") return
    if (method !== Notification.cancelled) return this.#write(line)
    const key = keyOf(memberOf(memberOf(message, "params"), "requestId") ?? null)
    for (const [own, waiting] of this.#waiting)
      if (waiting.peer === peer && keyOf(waiting.id) === key) return this.#cancel(own, waiting)
  }

  /** Cancels the requests whose answers would go there. */
  drop(outlet: Outlet): void {
    for (const [key, waiting] of this.#waiting) if (waiting.outlet === outlet) this.#cancel(key, waiting)
  }

  /** Every request gets an answer with this reason. */
  over(why: string): void {
    if (this.#end !== undefined) return
    this.#end = why
    for (const { id, method, outlet } of this.#waiting.values()) outlet.answer(bytesOf(unanswered(method, id, why)))
    this.#waiting.clear()
  }

  #cancel(key: string, { outlet, own }: Waiting) {
    this.#waiting.delete(key)
    this.#write(bytesOf({ jsonrpc: "2.0", method: Notification.cancelled, params: { requestId: own } }))
    outlet.abandon()
  }

  #take(key: string): Waiting | undefined {
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    return waiting
  }

  #write(line: Uint8Array) {
    const { stdin } = this.#child
    if (stdin.writable) passLine(stdin, line)
  }

  #receive(message: JsonObject, line: Uint8Array) {
    const id = memberOf(message, "id")
    if (id !== undefined && isResponse(message)) return this.#answered(message, id, line)
    const params = memberOf(message, "params")
    if (id === undefined) {
      const subscribed = memberOf(memberOf(params, "_meta"), subscription)
      if (subscribed !== undefined) return this.#ofSubscription(message, subscribed, line)
      if (memberOf(message, "method") === Notification.progress) return this.#progress(message, params, line)
    }
    if (!this.#isShared || id === undefined) for (const peer of this.#peers) peer.onMessage(line)
    else if (memberOf(message, "method") === "ping") this.#write(bytesOf({ jsonrpc: "2.0", id, result: {} }))
    else this.#write(errorOf(id, -32_601n, "this server has several clients, so it can ask none of them"))
  }

  #answered(message: JsonObject, id: Json.Json, line: Uint8Array) {
    const waiting = this.#take(keyOf(id))
    if (waiting === undefined) return
    const answer = waiting.peer.filtered?.(waiting.method, message)
    if (answer === undefined && !this.#isShared) return waiting.outlet.answer(line)
    waiting.outlet.answer(bytesOf({ ...(answer ?? message), id: waiting.id }))
  }

  #ofSubscription(message: JsonObject, subscribed: Json.Json, line: Uint8Array) {
    const waiting = this.#waiting.get(keyOf(subscribed))
    if (waiting === undefined) return
    const params = withMeta(memberOf(message, "params"), subscription, waiting.id)
    waiting.outlet.send(this.#isShared ? bytesOf({ ...message, params }) : line)
  }

  #progress(message: JsonObject, params: Json.Json | undefined, line: Uint8Array) {
    const token = keyOf(memberOf(params, "progressToken") ?? null)
    if (!this.#isShared) {
      const isOf = (each: Waiting) => each.token !== undefined && keyOf(each.token) === token
      return [...this.#waiting.values()].find(isOf)?.outlet.send(line)
    }
    const waiting = this.#waiting.get(token)
    if (waiting?.token === undefined || !isObject(params)) return
    waiting.outlet.send(bytesOf({ ...message, params: { ...params, progressToken: waiting.token } }))
  }
}

/** Starts the server; it ends with the scope. */
export const start = Effect.fn("ServerProcess.start")(function* (command: Command, isShared: boolean) {
  const log = yield* FiberSet.makeRuntime()
  const { child, ended } = yield* McpProcess.start(command)
  const server = new ServerProcess(child, isShared, (why) =>
    log(Effect.logWarning(`a line of the MCP server was left out: it ${why}`))
  )
  const stopped = Effect.tap(ended, (how) =>
    Effect.andThen(
      Effect.logWarning(`the MCP server ${how}`),
      Effect.sync(() => server.over(`the MCP server ${how}`))
    )
  )
  yield* Effect.forkScoped(stopped)
  yield* Effect.addFinalizer(() => Effect.sync(() => server.over("the session has ended")))
  return server
})
