/**
 * A standard MCP server on stdin and stdout with the tools of many peers, each as `peer.tool`. What the peers' servers ask of the
 * client (sampling, elicitation, roots) passes, and so do progress, cancellation and log messages; resources and prompts do not,
 * because their names would collide. Where there are many tools, the list has `find_tools` and `call_tool` in their place.
 */
import type * as Json from "@catenet/crypto/Json"
import { Deferred, Effect, Fiber, FiberSet, Queue } from "effect"
import type { Readable, Writable } from "node:stream"
import { version } from "../../Version.ts"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import type { GatewayPeer } from "./GatewayPeer.ts"
import type { GatewayClient, Report } from "./GatewaySession.ts"
import { failure, memberOf, versionFor } from "./McpResult.ts"
import { isResponse, keyOf, readLines, writeLine } from "./StdioTransport.ts"
import * as ToolSearch from "./ToolSearch.ts"

/** Requests of the client that may wait for an answer. */
export const maxRunning = 1024
/** Time for the peers to be there before the first list; those that come later are announced. */
const listPatience = "5 seconds"
/** Between two announcements that the tools have changed. */
const announcePause = "500 millis"

class Refusal {
  readonly code: bigint
  readonly message: string
  constructor(code: bigint, message: string) {
    this.code = code
    this.message = message
  }
}

interface State {
  readonly stdout: Writable
  readonly peers: () => ReadonlyArray<GatewayPeer>
  /** Requests that run, by id. */
  readonly running: Map<string, Fiber.Fiber<void>>
  /** What peers have asked of the client. */
  readonly asked: Map<string, Deferred.Deferred<JsonObject>>
  readonly changes: Queue.Queue<void>
  readonly run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  next: number
  level: JsonObject | undefined
  /** The client has asked for the list. */
  hasList: boolean
}

/** A tool of a peer. */
interface Known {
  readonly peer: GatewayPeer
  /** As its own server calls it. */
  readonly tool: string
  readonly entry: JsonObject
}

const known = ({ peers }: State): ReadonlyArray<Known> =>
  peers().flatMap((peer) =>
    (peer.tools() ?? []).flatMap((listed) => {
      const tool = textOf(listed, "name")
      return tool === undefined ? [] : [{ peer, tool, entry: { ...listed, name: `${peer.name}.${tool}` } }]
    })
  )

const absences = ({ peers }: State) =>
  peers().flatMap((peer) => {
    const why = peer.absence()
    return why === undefined ? [] : [`${peer.name} is not there: ${why}`]
  })

const search = (state: State, params: Json.Json | undefined) => {
  const query = textOf(memberOf(params, "arguments") ?? null, "query") ?? ""
  const entries = known(state).map(({ entry }) => entry)
  return ToolSearch.answer(ToolSearch.find(entries, query), absences(state))
}

/** The call of a peer's tool. Its answer has `result` or `error`. */
const route = (state: State, params: JsonObject, report: Report): Effect.Effect<JsonObject, Refusal> => {
  const name = textOf(params, "name")
  if (name === undefined) return Effect.fail(new Refusal(-32_602n, "tools/call wants a name"))
  const peer = state
    .peers()
    .filter((each) => name.startsWith(`${each.name}.`))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  if (peer === undefined) {
    const names = state.peers().map((each) => each.name)
    return Effect.fail(new Refusal(-32_602n, `no peer has the tool ${name}. The peers are: ${names.join(", ")}`))
  }
  return Effect.catchTag(
    peer.call({ ...params, name: name.slice(peer.name.length + 1) }, report),
    "PeerAbsent",
    (error) => Effect.succeed({ result: failure(error.message) })
  )
}

const call = (state: State, params: Json.Json | undefined, report: Report): Effect.Effect<JsonObject, Refusal> => {
  const given = isObject(params) ? params : {}
  const name = textOf(given, "name")
  if (name === "find_tools") return Effect.succeed({ result: search(state, given) })
  if (name !== "call_tool") return route(state, given, report)
  const wanted = memberOf(given, "arguments")
  return route(
    state,
    { ...given, name: textOf(wanted ?? null, "name") ?? "", arguments: memberOf(wanted, "arguments") ?? {} },
    report
  )
}

const list = Effect.fnUntraced(function* (state: State) {
  const all = Effect.forEach(state.peers(), ({ tried }) => tried, { concurrency: "unbounded", discard: true })
  yield* Effect.timeoutOption(all, listPatience)
  state.hasList = true
  const entries = known(state).map(({ entry }) => entry)
  return { result: { tools: [...(entries.length > ToolSearch.maxListed ? ToolSearch.tools : entries)] } }
})

const initialized = (state: State, params: Json.Json | undefined): JsonObject => ({
  protocolVersion: versionFor(params === undefined ? undefined : textOf(params, "protocolVersion")),
  capabilities: { tools: { listChanged: true }, logging: {} },
  serverInfo: { name: "ct-agent", title: "The peers of Catenet channels", version },
  instructions: `Each tool runs at the machine before the dot of its name: ${state
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
    case "tools/list":
      return list(state)
    case "tools/call":
      return call(state, params, report)
    default:
      return Effect.fail(new Refusal(-32_601n, `unknown method: ${method}. The gateway passes tools alone.`))
  }
}

/** What peers may ask of this client. */
const clientOf = (state: State, initialize: JsonObject): GatewayClient => ({
  initialize: { ...initialize, protocolVersion: versionFor(textOf(initialize, "protocolVersion")) },
  level: () => state.level,
  notify: (method, params) =>
    writeLine(state.stdout, { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
  onTools: () => void Queue.offerUnsafe(state.changes, undefined),
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

const announce = Effect.fnUntraced(function* ({ changes, hasList, stdout }: State) {
  yield* Queue.take(changes)
  if (hasList) writeLine(stdout, { jsonrpc: "2.0", method: Notification.toolsChanged })
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
    changes: yield* Queue.sliding<void>(1),
    run: (effect) => run(effect),
    next: 1,
    level: undefined,
    hasList: false
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
