/**
 * What callbacks of connections threw: counted, and logged with its stack at most once a minute. What reports a fault has ended
 * the connection, or ends it. A throw that reached the event loop all the same is reported, too: no connection can be named
 * then, and the others must not pay for it.
 */
import { FaultLog } from "@catenet/wire/transport/FaultLog"
import { Cause, Clock, Context, Effect, FiberSet, Layer } from "effect"
import { Counters } from "./Counters.ts"

export class ConnectionFaults extends Context.Service<
  ConnectionFaults,
  {
    readonly report: (error: unknown) => void
    /** Reports what was thrown and destroys the connection. */
    readonly ending: (connection: { readonly destroy: () => unknown }) => (error: unknown) => void
  }
>()("edge/observe/ConnectionFaults") {
  static readonly make = Effect.gen(function* () {
    const counters = yield* Counters
    const clock = yield* Clock.Clock
    const run = yield* FiberSet.makeRuntime<never>()
    const log = new FaultLog(
      () => clock.currentTimeMillisUnsafe(),
      (error, untold) => {
        const failed = Effect.logError("a callback of a connection failed", Cause.die(error))
        run(Effect.annotateLogs(failed, { unloggedBefore: untold }))
      }
    )
    const report = (error: unknown) => {
      counters.connectionFaults += 1
      log.report(error)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("uncaughtException", report).on("unhandledRejection", report)),
      () => Effect.sync(() => process.off("uncaughtException", report).off("unhandledRejection", report))
    )
    return ConnectionFaults.of({
      report,
      ending: (connection) => (error) => {
        report(error)
        connection.destroy()
      }
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer]))
}
