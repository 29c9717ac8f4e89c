/**
 * Offers the tools of a local MCP server to those peers of a channel that do not speak in frames: one server for all of them. A server that ends is restarted; meanwhile its tools stay
 * listed, and calls fail with an explanation.
 */
import * as Json from "@catenet/crypto/Json"
import * as JsonText from "@catenet/crypto/Json"
import { clause } from "@catenet/domain/values/Sentence"
import { Deferred, Duration, Effect, FiberSet, Queue } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { version } from "../../Version.ts"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject, textOf, type Tool, ToolFailed } from "../rpc/Tool.ts"
import type { Command } from "../serve/HandlerProcess.ts"
import { RestartBackoff } from "../serve/RejoinBackoff.ts"
import { start } from "./McpProcess.ts"
import { memberOf, newest } from "./McpResult.ts"
import * as McpResult from "./McpResult.ts"
import { readLines, type Unreadable, writeLine } from "./StdioTransport.ts"

/** A local MCP server as its client sees it: a command that speaks JSON-RPC on stdin and stdout, one message a line. */
type Answer = Effect.Effect<Json.Json, ToolFailed>

interface Listeners {
  readonly onNotification: (method: string) => void
  readonly onUnreadable: (line: Unreadable) => void
  /** Called once. */
  readonly onEnd: () => void
}

/** The error of calls while there is no server; it is being restarted. */
const restarting = new ToolFailed({
  reason: "the MCP server has ended and is being restarted: try again in a few seconds"
})

class McpProcess {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<bigint, (answer: Answer) => void>()
  readonly #progress = new Map<bigint, (progress: JsonObject) => void>()
  readonly #onNotification: (method: string) => void
  #next = 1n
  #isOver = false

  constructor(child: ChildProcessWithoutNullStreams, { onEnd, onNotification, onUnreadable }: Listeners) {
    this.#child = child
    this.#onNotification = onNotification
    child.once("close", () => {
      this.#isOver = true
      for (const settle of this.#waiting.values())
        settle(
          Effect.fail(new ToolFailed({ reason: "the MCP server has ended during the call and is being restarted" }))
        )
      onEnd()
    })
    readLines(child.stdout, {
      onMessage: (message) => this.#receive(message),
      onBatch: (messages) => {
        for (const message of messages) if (isObject(message)) this.#receive(message)
      },
      onUnreadable: (line) => {
        const { id, isRequest, why } = line
        onUnreadable(line)
        if (typeof id === "bigint" && !isRequest)
          this.#waiting.get(id)?.(Effect.fail(new ToolFailed({ reason: `the answer of the MCP server ${why}` })))
      }
    })
  }

  notify(method: string, params: JsonObject = {}): void {
    writeLine(this.#child.stdin, { jsonrpc: "2.0", method, params })
  }

  /** The result, or the server's error as a failure. Interruption cancels the request at the server. */
  request(method: string, params: JsonObject, report?: (progress: JsonObject) => void): Answer {
    return Effect.callback<Json.Json, ToolFailed>((resume) => {
      if (this.#isOver) return resume(Effect.fail(restarting))
      const id = this.#next++
      const settle = (answer: Answer) => {
        this.#waiting.delete(id)
        this.#progress.delete(id)
        resume(answer)
      }
      this.#waiting.set(id, settle)
      if (report !== undefined) this.#progress.set(id, report)
      const meta = report === undefined ? {} : { _meta: { progressToken: id } }
      writeLine(this.#child.stdin, { jsonrpc: "2.0", id, method, params: { ...params, ...meta } })
      return Effect.sync(() => {
        this.#waiting.delete(id)
        this.#progress.delete(id)
        this.notify("notifications/cancelled", { requestId: id, reason: "the caller has cancelled" })
      })
    })
  }

  #receive(message: JsonObject) {
    const id = memberOf(message, "id")
    const method = memberOf(message, "method")
    if (typeof method === "string") return this.#asked(method, id, memberOf(message, "params"))
    if (typeof id !== "bigint") return
    const error = memberOf(message, "error")
    const reason = memberOf(error, "message")
    this.#waiting.get(id)?.(
      error === undefined
        ? Effect.succeed(memberOf(message, "result") ?? null)
        : Effect.fail(new ToolFailed({ reason: typeof reason === "string" ? reason : JsonText.write(error) }))
    )
  }

  #asked(method: string, id: Json.Json | undefined, params: Json.Json | undefined) {
    if (id !== undefined) {
      const known = method === "ping"
      const answer = known ? { result: {} } : { error: { code: -32_601n, message: `unknown method: ${method}` } }
      return writeLine(this.#child.stdin, { jsonrpc: "2.0", id, ...answer })
    }
    const token = memberOf(params, "progressToken")
    if (method !== "notifications/progress") return this.#onNotification(method)
    if (typeof token === "bigint" && isObject(params)) this.#progress.get(token)?.(params)
  }
}

/** Time for a server to initialize and to list its tools. */
const startBound = "30 seconds"
const pauses = { first: 200, longest: 10_000, steady: 10_000 }

const clientInfo: JsonObject = { name: "ct-agent", version }

/** A tool of the server as one of this member. Its result travels as it is. */
const toolOf = (server: McpProcess, entry: JsonObject): ReadonlyArray<Tool> => {
  const name = textOf(entry, "name")
  if (name === undefined) return []
  const isReadOnly = memberOf(memberOf(entry, "annotations"), "readOnlyHint") === true
  const run: Tool["run"] = (args, _, report) =>
    server.request("tools/call", { name, arguments: isObject(args) ? args : {} }, report)
  return [{ name, description: textOf(entry, "description") ?? "", isReadOnly, listed: entry, run }]
}

/** One run of the server, until it ends. */
const serveOnce = Effect.fnUntraced(function* (command: Command, put: (tools: ReadonlyArray<Tool>) => void) {
  const { child } = yield* start(command)
  const ended = yield* Deferred.make<void>()
  const changes = yield* Queue.sliding<void>(1)
  const log = yield* FiberSet.makeRuntime()
  const server = new McpProcess(child, {
    onNotification: (method) => {
      if (method === Notification.toolsChanged) Queue.offerUnsafe(changes, undefined)
    },
    onUnreadable: ({ isTooLong, why }) => {
      if (isTooLong) log(Effect.logWarning(`a message of the MCP server was left out: it ${why}`))
    },
    onEnd: () => Deferred.doneUnsafe(ended, Effect.void)
  })
  const begin = Effect.gen(function* () {
    yield* server.request("initialize", { protocolVersion: newest, capabilities: {}, clientInfo })
    server.notify("notifications/initialized")
  })
  const refresh = Effect.map(
    McpResult.read((params) => server.request("tools/list", params)),
    (entries) => put(entries.flatMap((entry) => toolOf(server, entry)))
  )
  const serving = Effect.gen(function* () {
    yield* Effect.timeoutOrElse(Effect.andThen(begin, refresh), {
      duration: startBound,
      orElse: () => Effect.fail(new ToolFailed({ reason: "it did not list its tools in time" }))
    })
    while (true) {
      yield* Queue.take(changes)
      yield* refresh
    }
  })
  yield* Effect.raceFirst(serving, Deferred.await(ended))
}, Effect.scoped)

const unavailable = (tool: Tool): Tool => ({ ...tool, run: () => Effect.fail(restarting) })

const listing = (tools: ReadonlyArray<Tool>) => Json.write(tools.map(({ listed = {}, name }) => ({ name, ...listed })))

export interface McpBackend {
  /** Starts the server, unless it has been; succeeds when its tools were listed once, or the first start has failed. */
  readonly begin: Effect.Effect<void>
  /** The server's tools as they are now. */
  readonly tools: () => ReadonlyArray<Tool>
  /** Calls the listener when the list changes, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void
}

/** The server lives until the scope closes. */
export const make = Effect.fn("McpBackend.make")(function* (line: string, passes: ReadonlyArray<string>) {
  let tools: ReadonlyArray<Tool> = []
  const listeners = new Set<() => void>()
  const first = yield* Deferred.make<void>()
  const put = (now: ReadonlyArray<Tool>) => {
    const isOther = listing(now) !== listing(tools)
    tools = now
    Deferred.doneUnsafe(first, Effect.void)
    if (isOther) for (const listener of listeners) listener()
  }
  const keep = Effect.gen(function* () {
    const pause = new RestartBackoff(pauses)
    while (true) {
      const [took, result] = yield* Effect.timed(Effect.result(serveOnce({ line, service: "mcp", passes }, put)))
      put(tools.map(unavailable))
      const why = result._tag === "Failure" ? `: ${result.failure.message}` : ""
      yield* Effect.logWarning(`the MCP server has ended${clause(why)}. It is started again.`)
      yield* Effect.sleep(pause.after(Duration.toMillis(took)))
    }
  })
  const scope = yield* Effect.scope
  let hasBegun = false
  const backend: McpBackend = {
    begin: Effect.suspend(() => {
      const begun = hasBegun ? Effect.void : Effect.forkIn(keep, scope)
      hasBegun = true
      return Effect.andThen(begun, Deferred.await(first))
    }),
    tools: () => tools,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
  return backend
})
