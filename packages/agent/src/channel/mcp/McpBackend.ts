/**
 * Offers the tools of a local MCP server to the peer of a channel, beside the built-in ones. A server that ends is started again;
 * until it runs, its tools stay listed, and calls fail with a sentence that says so.
 */
import * as Json from "@catenet/crypto/Json"
import { clause } from "@catenet/domain/values/Sentence"
import { Deferred, Duration, Effect, FiberSet, Queue } from "effect"
import { version } from "../../Version.ts"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject, textOf, type Tool, ToolFailed } from "../rpc/Tool.ts"
import * as HandlerProcess from "../serve/HandlerProcess.ts"
import { RestartBackoff } from "../serve/RestartBackoff.ts"
import { McpProcess, restarting } from "./McpProcess.ts"
import { memberOf } from "./McpResult.ts"
import { newest } from "./McpVersions.ts"
import * as ToolPagination from "./ToolPagination.ts"

/** How long a server may take to say what it is, and to list its tools. */
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
const serveOnce = Effect.fnUntraced(function* (
  command: HandlerProcess.Command,
  put: (tools: ReadonlyArray<Tool>) => void
) {
  const child = yield* HandlerProcess.start(command)
  child.stderr.pipe(process.stderr, { end: false })
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
    ToolPagination.read((params) => server.request("tools/list", params)),
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
  /** The server's tools as they are now. */
  readonly tools: () => ReadonlyArray<Tool>
  /** Calls the listener whenever their list is another one, until what it returns is called. */
  readonly onChange: (listener: () => void) => () => void
}

/** Succeeds when the tools were listed once, or the first start has failed. */
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
  yield* Effect.forkScoped(keep)
  yield* Deferred.await(first)
  const backend: McpBackend = {
    tools: () => tools,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
  return backend
})
