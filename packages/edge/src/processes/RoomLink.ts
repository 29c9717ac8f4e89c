/** A worker's way to the room of its edge: one session with the main process, for as long as both live. */
import { retryForever } from "@catenet/platform/RetryForever"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Schedule } from "effect"
import type { Socket } from "node:net"
import { LocalRoom } from "../channels/LocalRoom.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { dial, redialEvery } from "./SiblingDial.ts"
import { siblingLimits } from "./SiblingLimits.ts"

/** Keeps the link for as long as the scope lives. */
export const open = Effect.fn("RoomLink.open")(function* (path: string) {
  const room = yield* LocalRoom
  const { ending, report } = yield* ConnectionFaults

  const hold = (socket: Socket) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        guard(socket, ending(socket))
        return new Mux(socket, { side: "dialler", limits: siblingLimits, keepAlive: false, onFault: report })
      }),
      (session) =>
        Effect.promise(() => session.ready).pipe(
          Effect.andThen(Effect.sync(() => room.linked(session))),
          Effect.andThen(Effect.promise(() => session.closed))
        ),
      (session) =>
        Effect.sync(() => {
          room.linked(undefined)
          session.close("normal")
        })
    )

  yield* dial(path).pipe(
    Effect.flatMap(hold),
    Effect.ignore,
    Effect.repeat(Schedule.spaced(redialEvery)),
    retryForever("linking with the room of the main process"),
    Effect.forkScoped
  )
})
