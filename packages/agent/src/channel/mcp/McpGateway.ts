/**
 * A standard MCP server on two streams with what the servers of many peers have, under the names of `PeerNames`. What those ask of the
 * client (sampling, elicitation, roots) passes, and so do progress, cancellation and log messages. Where there are many tools, the list
 * has `find_tools` and `call_tool` in their place.
 */
import type * as Json from "@catenet/crypto/Json"
import { Deferred, Effect, Fiber, FiberSet, Queue } from "effect"
import type { Readable, Writable } from "node:stream"
import { version } from "../../Version.ts"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import type { GatewayPeer } from "./GatewayPeer.ts"
import { type Listing, Refusal, toPeers } from "./GatewayRequests.ts"
import type { GatewayClient, Report } from "./GatewaySession.ts"
import { memberOf, versionFor } from "./McpResult.ts"
import { isResponse, keyOf, readLines, writeLine } from "./StdioTransport.ts"

/** Requests of the client that may wait for an answer. */
export const maxRunning = 1024
/** Between two announcements of changes. */
const announcePause = "500 millis"

interface State extends Listing {
  readonly stdout: Writable
  /** Requests that run, by id. */
  readonly running: Map<string, Fiber.Fiber<void>>
  /** What peers have asked of the client. */
  readonly asked: Map<string, Deferred.Deferred<JsonObject>>
  /** Lists that have changed since the last announcement, by the notifications that say so. */
  readonly changed: Set<string>
  readonly changes: Queue.Queue<void>
  readonly run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  next: number
  level: JsonObject | undefined
}

const initialized = (state: State, params: Json.Json | undefined): JsonObject => ({
  protocolVersion: versionFor(params === undefined ? undefined : textOf(params, "protocolVersion")),
  capabilities: {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {}
  },
  serverInfo: { name: "ct-agent", title: "The peers of Catenet channels", version },
  instructions: `Each tool and prompt is of the machine before the dot of its name, and each resource of the host of its URI: ${state
    .peers()
    .map(({ name }) => name)
    .join(", ")}.`
})

/** Starts the peers when the client has said who it is. */
type Start = (client: GatewayClient) => Effect.Effect<void>

const respond = (
  state: State,
  start: Start,
  method: string,
  params: Json.Json | undefined
): Effect.Effect<JsonObject, Refusal> => {
  const progressToken = memberOf(memberOf(params, "_meta"), "progressToken")
  const report: Report =
    progressToken === undefined
      ? undefined
      : (progress) =>
          writeLine(state.stdout, {
            jsonrpc: "2.0",
            method: Notification.progress,
            params: { ...progress, progressToken }
          })
  switch (method) {
    case "initialize":
      return Effect.map(start(clientOf(state, isObject(params) ? params : {})), () => ({
        result: initialized(state, params)
      }))
    case "ping":
      return Effect.succeed({ result: {} })
    case "logging/setLevel":
      state.level = isObject(params) ? params : undefined
      for (const peer of state.peers()) state.run(peer.setLevel)
      return Effect.succeed({ result: {} })
    default:
      return toPeers(state, method, isObject(params) ? params : {}, report)
  }
}

/** What peers may ask of this client. */
const clientOf = (state: State, initialize: JsonObject): GatewayClient => ({
  initialize: { ...initialize, protocolVersion: versionFor(textOf(initialize, "protocolVersion")) },
  level: () => state.level,
  notify: (method, params) =>
    writeLine(state.stdout, { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
  onChanged: (method) => {
    state.changed.add(method)
    Queue.offerUnsafe(state.changes, undefined)
  },
  ask: (method, params) =>
    Effect.suspend(() => {
      const id = `catenet:${state.next++}`
      const reply = Deferred.makeUnsafe<JsonObject>()
      state.asked.set(id, reply)
      writeLine(state.stdout, { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })
      return Deferred.await(reply).pipe(
        Effect.onInterrupt(() =>
          Effect.sync(() =>
            writeLine(state.stdout, { jsonrpc: "2.0", method: Notification.cancelled, params: { requestId: id } })
          )
        ),
        Effect.ensuring(Effect.sync(() => state.asked.delete(id)))
      )
    })
})

const answered = (state: State, message: JsonObject) => {
  const id = memberOf(message, "id")
  const reply = typeof id === "string" ? state.asked.get(id) : undefined
  if (reply === undefined) return
  const { error, result } = message
  const body: JsonObject = error === undefined ? { result: result ?? {} } : { error }
  Deferred.doneUnsafe(reply, Effect.succeed(body))
}

const notified = (state: State, method: string, params: Json.Json | undefined) => {
  if (method === "notifications/roots/list_changed") for (const peer of state.peers()) peer.tell(method, params)
  const running =
    method === Notification.cancelled ? state.running.get(keyOf(memberOf(params, "requestId") ?? null)) : undefined
  return running === undefined ? undefined : Fiber.interrupt(running)
}

const announce = Effect.fnUntraced(function* ({ changed, changes, listed, stdout }: State) {
  yield* Queue.take(changes)
  for (const method of changed) if (listed.has(method)) writeLine(stdout, { jsonrpc: "2.0", method })
  changed.clear()
  yield* Effect.sleep(announcePause)
})

/** Serves until the client closes its end. `make` starts the peers. */
export const serve = Effect.fn("McpGateway.serve")(function* <R>(
  make: (client: GatewayClient) => Effect.Effect<ReadonlyArray<GatewayPeer>, never, R>,
  stdin: Readable,
  stdout: Writable
) {
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)()
  let peers: ReadonlyArray<GatewayPeer> = []
  const state: State = {
    stdout,
    peers: () => peers,
    running: new Map(),
    asked: new Map(),
    changed: new Set(),
    changes: yield* Queue.sliding<void>(1),
    run: (effect) => run(effect),
    next: 1,
    level: undefined,
    listed: new Set()
  }
  const context = yield* Effect.context<R>()
  const start: Start = (client) =>
    Effect.suspend(() => {
      if (peers.length > 0) return Effect.void
      return Effect.map(make(client), (made) => void (peers = made))
    }).pipe(Effect.provideContext(context))
  yield* Effect.forkScoped(Effect.forever(Effect.suspend(() => announce(state))))

  const take = (message: JsonObject) => {
    const id = memberOf(message, "id")
    const method = memberOf(message, "method")
    const params = memberOf(message, "params")
    if (isResponse(message)) return answered(state, message)
    if (typeof method !== "string") return
    if (id === undefined) {
      const ending = notified(state, method, params)
      if (ending !== undefined) run(ending)
      return
    }
    const key = keyOf(id)
    const refuse = ({ code, message: why }: Refusal) =>
      writeLine(stdout, { jsonrpc: "2.0", id, error: { code, message: why } })
    if (state.running.size >= maxRunning)
      return refuse(new Refusal(-32_000n, `${maxRunning} requests wait for an answer: send it again later`))
    const answering = respond(state, start, method, params).pipe(
      Effect.match({ onSuccess: (body) => writeLine(stdout, { ...body, jsonrpc: "2.0", id }), onFailure: refuse }),
      Effect.ensuring(Effect.sync(() => state.running.delete(key)))
    )
    const fiber = run(answering)
    // It may have ended at once.
    if (fiber.pollUnsafe() === undefined) state.running.set(key, fiber)
  }
  yield* Effect.callback<void>((resume) => {
    const over = () => resume(Effect.void)
    readLines(stdin, {
      onMessage: take,
      onBatch: (messages) => {
        for (const message of messages) if (isObject(message)) take(message)
      },
      onUnreadable: ({ id = null, isTooLong, why }) =>
        writeLine(stdout, {
          jsonrpc: "2.0",
          id,
          error: { code: isTooLong ? -32_600n : -32_700n, message: `the message ${why}` }
        })
    })
    stdin.once("end", over)
    stdin.once("close", over)
    stdout.once("error", over)
  })
  // A client that closes its end may still wait for responses.
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), "2 seconds")
}, Effect.scoped)
