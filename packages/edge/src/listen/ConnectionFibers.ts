/**
 * Runs what serves a connection as a fiber of the surrounding scope. A defect in it ends that connection and is reported;
 * it never reaches another one.
 */
import { Cause, Effect, FiberSet } from "effect"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"

/** How a socket, or another connection, is handed to an effect from a callback. */
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
