/**
 * Faults of the callbacks of a client's connections: counted, and logged with its stack at most once a minute. The reporter of a
 * fault ends its connection. What reaches the event loop all the same belongs to no connection that could be named, and must
 * not end the others.
 */
import type { OnFault } from "@catenet/wire/transport/FaultBoundary"
import { FaultLog } from "@catenet/wire/transport/FaultLog"
import { Cause, Clock, Effect, FiberSet } from "effect"

export interface ConnectFaults {
  readonly report: OnFault
  /** Reports it and destroys the connection. */
  readonly ending: (connection: { readonly destroy: () => unknown }) => OnFault
}

export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const run = yield* FiberSet.makeRuntime<never>()
  const log = new FaultLog(
    () => clock.currentTimeMillisUnsafe(),
    (error, untold) => {
      const failed = Effect.logError("a callback of a connection failed", Cause.die(error))
      run(Effect.annotateLogs(failed, { unloggedBefore: untold }))
    }
  )
  const { report } = log
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("uncaughtException", report).on("unhandledRejection", report)),
    () => Effect.sync(() => process.off("uncaughtException", report).off("unhandledRejection", report))
  )
  const faults: ConnectFaults = {
    report,
    ending: (connection) => (error) => {
      report(error)
      connection.destroy()
    }
  }
  return faults
})
