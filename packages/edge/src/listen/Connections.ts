/**
 * Runs what serves a connection as a fiber of the surrounding scope. A defect in it ends that connection and is logged;
 * it never reaches another one.
 */
import type { Socket } from "node:net"
import { Cause, Effect, FiberSet } from "effect"

/** How a socket is handed to an effect from a callback. */
export type Serve = <S extends Socket>(socket: S, serve: (socket: S) => Effect.Effect<void>) => void

export const makeServe = Effect.map(FiberSet.makeRuntime<never>(), (run): Serve => (socket, serve) => {
  run(
    Effect.catchCause(
      Effect.suspend(() => serve(socket)),
      (cause) => {
        socket.destroy()
        return Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a connection failed", cause)
      }
    )
  )
})
