/** The process of a local MCP server. */
import { signalGroup } from "@catenet/platform/ChildProcesses"
import { Deferred, Effect, FiberSet } from "effect"
import * as HandlerProcess from "../serve/HandlerProcess.ts"

/** Time for a server to end after its input has, and again after SIGTERM. */
const endBound = "1 second"

/**
 * A running server. What it writes to stderr is logged. `ended` succeeds with how it ended, as a clause. When the scope closes, the
 * server is ended as the specification says: its input first, then SIGTERM, then SIGKILL to its whole group.
 */
export const start = Effect.fn("McpProcess.start")(function* (command: HandlerProcess.Command) {
  const child = yield* HandlerProcess.start(command)
  const ended = yield* Deferred.make<string>()
  let last = ""
  const log = yield* FiberSet.makeRuntime()
  HandlerProcess.readLines(child.stderr, (line) => {
    if (line.trim() !== "") last = line.trim()
    log(Effect.logInfo(`${command.service}: ${line}`))
  })
  child.once("exit", (code, signal) => {
    // What it has started would keep its pipes open.
    signalGroup(child, "SIGKILL")
    const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with ${code}`
    const over = () => void Deferred.doneUnsafe(ended, Effect.succeed(last === "" ? how : `${how}: ${last}`))
    child.once("close", over)
    log(Effect.andThen(Effect.sleep(endBound), Effect.sync(over)))
  })
  const isOver = Effect.timeoutOption(Deferred.await(ended), endBound)
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      child.stdin.end()
      if ((yield* isOver)._tag === "Some") return
      signalGroup(child, "SIGTERM")
      yield* isOver
    })
  )
  return { child, ended: Deferred.await(ended) }
})
