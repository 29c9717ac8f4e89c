/**
 * Joins a caller that speaks in frames with an MCP server of its own: every message passes both ways, as it is, and the server gets the
 * caller's `initialize`. The session ends with the server. The member's own tools come after the server's; each can also be called
 * as `agent/NAME`, and only so where the server has a tool of that name.
 */
import type * as Json from "@catenet/crypto/Json"
import * as Permission from "@catenet/crypto/Permission"
import { Deferred, Effect, Fiber, FiberSet } from "effect"
import type { Duplex } from "node:stream"
import * as Notification from "../rpc/Notification.ts"
import { grantOf } from "../rpc/RpcDispatch.ts"
import { isObject, type JsonObject, textOf, type Tool } from "../rpc/Tool.ts"
import { PassedCalls, watched } from "../rpc/ToolCalls.ts"
import { FramedMessages, type PeerEnd } from "./FramedMessages.ts"
import * as McpProcess from "./McpProcess.ts"
import { failure, memberOf, resultOf, unanswered } from "./McpResult.ts"
import * as McpResult from "./McpResult.ts"
import * as MessageFrames from "./MessageFrames.ts"
import {
  answerOf,
  errorOf,
  forward,
  forwardCall,
  type Id,
  isModern,
  type Serving,
  start,
  type State,
  toServer,
  whole
} from "./ServedSession.ts"
import { ServerTools } from "./ServerTools.ts"
import { bytesOf, isResponse, keyOf, readLines, type Unreadable } from "./StdioTransport.ts"

const toolFailed = -32_000n
/** Ids of requests that are this side's own. */
const ownId = "catenet:"

/** A session that is silent for so long gives its place to another that waits. */
const idleMillis = 300_000
/** The reason of its end, after which the caller opens another session only for a request. */
export const idle = "idle"

/** Requests of a caller that may wait for an answer. */
export const maxAsked = 1024

/** Asks the server for all its tools, unless they are known, in the revision of a request. */
const list = (state: State, request: Json.Json | undefined) =>
  Effect.suspend(() => {
    if (state.tools.isListed) return Effect.void
    const meta = memberOf(request, "_meta")
    const shared = isObject(meta) ? Object.entries(meta).filter(([name]) => name !== "progressToken") : []
    const page = (cursor: JsonObject) =>
      Effect.callback<Json.Json | undefined>((resume) => {
        const id = `${ownId}${state.next++}`
        state.mine.set(keyOf(id), (result) => resume(Effect.succeed(result)))
        toServer(
          state,
          bytesOf({
            jsonrpc: "2.0",
            id,
            method: "tools/list",
            params: { ...cursor, _meta: Object.fromEntries(shared) }
          })
        )
      }).pipe(
        Effect.tap((result) => Effect.sync(() => state.tools.note(result))),
        Effect.map((result) => result ?? null)
      )
    return Effect.asVoid(McpResult.read(page))
  })

const runOwn = (state: State, tool: Tool, id: Id, params: Json.Json | undefined) => {
  const { caller, calls, messages, running } = state
  if (!tool.isReadOnly && !Permission.mayWrite(caller.rights))
    return messages.send(errorOf(id, toolFailed, `${tool.name} may change something. ${grantOf(caller)}`))
  const progressToken = memberOf(memberOf(params, "_meta"), "progressToken")
  const report = (progress: JsonObject) =>
    messages.send(
      bytesOf({
        jsonrpc: "2.0",
        method: Notification.progress,
        params: { ...progress, progressToken: progressToken ?? null }
      })
    )
  const key = keyOf(id)
  const args = memberOf(params, "arguments") ?? {}
  const run = tool.run(args, caller, progressToken === undefined ? undefined : report)
  const answering = watched(calls, tool.name, args, run).pipe(
    Effect.match({ onSuccess: resultOf, onFailure: ({ reason }) => failure(reason) }),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a tool failed", defect), failure("the tool failed inside"))
    ),
    Effect.map((result) => messages.send(answerOf(id, isModern(params) ? { ...whole, ...result } : result))),
    Effect.ensuring(Effect.sync(() => running.delete(key)))
  )
  start(state, key, answering)
}

/** A call: of the server, unless only the member has a tool of this name. */
const callTool = Effect.fnUntraced(function* (
  state: State,
  line: Uint8Array,
  id: Id,
  name: string,
  params: Json.Json | undefined
) {
  const mayWrite = Permission.mayWrite(state.caller.rights)
  yield* list(state, params)
  const own = state.tools.own(name)
  if (own !== undefined) return runOwn(state, own, id, params)
  if (mayWrite || state.tools.isReadOnly(name)) return forwardCall(state, line, id, name, params)
  state.messages.send(errorOf(id, toolFailed, `${name} may change something. ${grantOf(state.caller)}`))
})

const cancelled = (state: State, params: Json.Json | undefined) => {
  const key = keyOf(memberOf(params, "requestId") ?? null)
  // The server does not answer what is cancelled.
  state.asked.delete(key)
  state.passed.end(key, "cancelled")
  const own = state.running.get(key)
  if (own !== undefined) state.run(Fiber.interrupt(own))
  return own !== undefined
}

// What a caller may say whose grant permits reading alone, or where calls of some tools wait for the owner.

const reading =
  /^(?:initialize|ping|server\/discover|tools\/(?:list|call)|subscriptions\/listen|resources\/.*|prompts\/.*|completion\/complete|logging\/setLevel)$/

/** Whether a request of this method changes nothing; of `tools/call` the tool's annotations say it. */
const changesNothing = (method: string): boolean => reading.test(method)

const members = new Set(["jsonrpc", "id", "method", "result", "error"])
const callMembers = new Set(["name", "arguments", "inputResponses", "requestState", "_meta"])

const only = (value: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)))

/** The message without what a server could read otherwise than this program: members of a name in another case, above all. */
const plain = (message: JsonObject): JsonObject => {
  const params = memberOf(message, "params")
  const isCall = message["method"] === "tools/call"
  const kept = isCall && isObject(params) ? only(params, callMembers) : params
  return { ...only(message, members), ...(kept === undefined ? {} : { params: kept }) }
}

const asked = (state: State, line: Uint8Array, id: Id, method: string, params: Json.Json | undefined) => {
  const { caller, messages } = state
  const refuse = (code: bigint, why: string) => messages.send(errorOf(id, code, why))
  if (typeof id === "string" && id.startsWith(ownId)) return refuse(-32_600n, `ids that begin with ${ownId} are taken`)
  if (state.asked.size + state.running.size >= maxAsked)
    return refuse(toolFailed, `${maxAsked} requests wait for an answer, the most of a session: send it again later`)
  const mayWrite = Permission.mayWrite(caller.rights)
  if (!mayWrite && !changesNothing(method))
    return refuse(toolFailed, `${method} may change something. ${grantOf(caller)}`)
  const name = method === "tools/call" && params !== undefined ? textOf(params, "name") : undefined
  if (name === undefined) return forward(state, line, id, method, params)
  if (mayWrite && !state.tools.mayBeOwn(name)) return forwardCall(state, line, id, name, params)
  state.run(callTool(state, line, id, name, params))
}

const fromCaller = (state: State, message: JsonObject, line: Uint8Array) => {
  state.count += 1
  const id = memberOf(message, "id")
  const method = memberOf(message, "method")
  const params = memberOf(message, "params")
  const isPassed = Permission.mayWrite(state.caller.rights) && !state.calls.hasRules
  const passed = isPassed ? line : bytesOf(plain(message))
  if (typeof method === "string" && id !== undefined) return asked(state, passed, id, method, params)
  if (method === Notification.cancelled && cancelled(state, params)) return
  toServer(state, passed)
}

/** The server's capabilities with the tools of the member. */
const tooled = (result: Json.Json): JsonObject => {
  const capabilities = memberOf(result, "capabilities")
  const tools = memberOf(capabilities, "tools")
  return {
    ...(isObject(result) ? result : {}),
    capabilities: { ...(isObject(capabilities) ? capabilities : {}), tools: isObject(tools) ? tools : {} }
  }
}

const answered = (state: State, message: JsonObject, id: Id, line: Uint8Array): Uint8Array => {
  const request = state.asked.get(keyOf(id))
  state.asked.delete(keyOf(id))
  const result = memberOf(message, "result")
  const isError = result === undefined || memberOf(result, "isError") === true
  state.passed.end(keyOf(id), isError ? "error" : "ok", line)
  if (/^(?:initialize|server\/discover)$/.test(request?.method ?? "") && result !== undefined)
    return answerOf(id, tooled(result))
  if (request?.method !== "tools/list") return line
  const hasNone = memberOf(memberOf(message, "error"), "code") === -32_601n
  if (result === undefined && !hasNone) return line
  state.tools.note(result)
  if (memberOf(result, "nextCursor") !== undefined) return line
  const others: JsonObject = request.isModern ? { ...whole, ttlMs: 0n, cacheScope: "private" } : {}
  const answer = answerOf(id, { ...others, ...state.tools.joined(result) })
  return answer.length > MessageFrames.maxMessage ? line : answer
}

const fromServer = (state: State, message: JsonObject, line: Uint8Array) => {
  state.count += 1
  const { messages, mine, tools } = state
  const id = memberOf(message, "id")
  if (id === undefined || !isResponse(message)) {
    if (memberOf(message, "method") === Notification.toolsChanged) tools.clear()
    return messages.send(line)
  }
  const own = mine.get(keyOf(id))
  if (own === undefined) return messages.send(answered(state, message, id, line))
  mine.delete(keyOf(id))
  own(memberOf(message, "result"))
}

/** A line of the server that is no message: a person's words, mostly. */
const complain = (state: State, { id, isRequest, why }: Unreadable) => {
  state.run(Effect.logWarning(`a line of the MCP server was left out: it ${why}`))
  const request = id === undefined || isRequest ? undefined : state.asked.get(keyOf(id))
  if (request === undefined) return
  state.asked.delete(keyOf(request.id))
  state.passed.end(keyOf(request.id), "error")
  state.messages.send(bytesOf(unanswered(request.method, request.id, `the answer of the MCP server ${why}`)))
}

/** Succeeds when nothing has been said for a while, nothing runs, and another caller may wait. */
const silence = Effect.fnUntraced(function* (state: State) {
  while (true) {
    const { count } = state
    yield* Effect.sleep(idleMillis)
    if (state.count === count && state.asked.size + state.running.size === 0 && state.isWanted()) return idle
  }
})

/** One session, until the caller ends it or the server ends. */
export const serve = Effect.fn("McpServerProxy.serve")(
  function* (stream: Duplex, serving: Serving) {
    const fibers = yield* FiberSet.make<void>()
    const run = yield* FiberSet.runtime(fibers)()
    const over = yield* Deferred.make<PeerEnd>()
    const { child, ended } = yield* McpProcess.start(serving.command)
    const state: State = {
      ...serving,
      child,
      messages: new FramedMessages(stream, {
        onMessage: (message, line) => {
          if (state.count === 0) listen()
          fromCaller(state, message, line)
        },
        onDrain: () => void child.stdout.resume(),
        onEnd: (end) => void Deferred.doneUnsafe(over, Effect.succeed(end))
      }),
      asked: new Map(),
      running: new Map(),
      run: (effect) => run(effect),
      tools: new ServerTools(serving.own),
      passed: new PassedCalls(serving.calls),
      mine: new Map(),
      next: 1,
      count: 0
    }
    yield* Effect.addFinalizer(() => Effect.sync(() => state.passed.close()))
    // The caller speaks first: until it has, it may not be reading frames.
    const listen = () =>
      readLines(child.stdout, {
        onMessage: (message, line) => {
          fromServer(state, message, line)
          if (state.messages.isFull) child.stdout.pause()
        },
        onBatch: (batch) => {
          for (const message of batch) if (isObject(message)) fromServer(state, message, bytesOf(message))
        },
        onUnreadable: (line) => complain(state, line)
      })
    child.stdin.on("drain", () => state.messages.hold(false))
    const stopped = Effect.tap(
      Effect.map(ended, (how) => `the MCP server ${how}`),
      (sentence) => Effect.logWarning(sentence)
    )
    const why = yield* Effect.raceAllFirst([Effect.as(Deferred.await(over), ""), silence(state), stopped])
    yield* state.messages.end(why)
  },
  Effect.scoped,
  Effect.catchTag("SpawnFailed", ({ message }) => Effect.logWarning(message))
)
