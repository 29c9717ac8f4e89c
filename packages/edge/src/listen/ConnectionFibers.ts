/** Serves each connection in a fiber of the surrounding scope. A defect is reported and ends only that connection. */
import { Cause, Effect, FiberSet } from "effect"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"

/** Starts an effect for a socket, or another connection, from a callback. */
export type Serve = <S extends { readonly destroy: () => unknown }>(
  socket: S,
  serve: (socket: S) => Effect.Effect<void>
) => void

export const makeServe = Effect.gen(function* () {
  const run = yield* FiberSet.makeRuntime<never>()
  const faults = yield* ConnectionFaults
  const serve: Serve = (socket, serve) => {
    run(
      Effect.catchCause(
        Effect.suspend(() => serve(socket)),
        (cause) =>
          Effect.sync(() => {
            socket.destroy()
            if (!Cause.hasInterruptsOnly(cause)) faults.report(Cause.squash(cause))
          })
      )
    )
  }
  return serve
})
