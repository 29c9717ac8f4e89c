/**
 * What callbacks of connections threw, logged with its stack at most once a minute. What reports a fault has ended the
 * connection, or ends it. A throw that reached the event loop all the same is reported, too: no connection can be named
 * then, and the others must not end for it.
 */
import { Cause, Clock, Effect, FiberSet } from "effect"
import type { OnFault } from "./FaultBoundary.ts"
import { FaultLog } from "./FaultLog.ts"

export interface ProcessFaults {
  readonly report: OnFault
  /** Reports what was thrown and destroys the connection. */
  readonly ending: (connection: { readonly destroy: () => unknown }) => OnFault
}

/** For as long as the scope is open. `count` hears of every fault. */
export const make = Effect.fnUntraced(function* (count: () => void) {
  const clock = yield* Clock.Clock
  const run = yield* FiberSet.makeRuntime<never>()
  const log = new FaultLog(
    () => clock.currentTimeMillisUnsafe(),
    (error, unlogged) => {
      const failed = Effect.logError("a callback of a connection failed", Cause.die(error))
      run(Effect.annotateLogs(failed, { unloggedBefore: unlogged }))
    }
  )
  const report = (error: unknown) => {
    count()
    log.report(error)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("uncaughtException", report).on("unhandledRejection", report)),
    () => Effect.sync(() => process.off("uncaughtException", report).off("unhandledRejection", report))
  )
  const faults: ProcessFaults = {
    report,
    ending: (connection) => (error) => {
      report(error)
      connection.destroy()
    }
  }
  return faults
})
