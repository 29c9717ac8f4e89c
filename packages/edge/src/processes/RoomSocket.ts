/** Where the workers of this edge bring members of channels: the main process has the room. */
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { createServer, type Socket } from "node:net"
import * as MemberSession from "../channels/MemberSession.ts"
import { OwnRoom } from "../channels/OwnRoom.ts"
import { makeServe } from "../listen/Connections.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { siblingLimits } from "./SiblingLimits.ts"

/** Listens for the life of the scope. */
export const open = Effect.fn("RoomSocket.open")(function* (path: string) {
  const { enter } = yield* OwnRoom
  const { ending, report } = yield* ConnectionFaults
  const run = yield* makeServe
  const sessions = new Set<Mux>()

  const serve = (socket: Socket) => {
    guard(socket, ending(socket))
    const session = new Mux(socket, {
      side: "acceptor",
      challenge: randomBytes(32),
      limits: siblingLimits,
      keepAlive: false,
      onFault: report,
      onStream: (stream) => {
        stream.on("error", () => undefined)
        run(stream, (stream) => MemberSession.take(stream, enter))
      }
    })
    sessions.add(session)
    void session.closed.then(() => sessions.delete(session))
  }

  yield* Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const server = createServer({ allowHalfOpen: true }, serve)
      server.once("error", (error) => resume(Effect.die(error)))
      server.listen(path, () => {
        resume(
          Effect.succeed(() => {
            server.close()
            for (const session of sessions) session.close("normal")
          })
        )
      })
    }),
    (close) => Effect.sync(close)
  )
})
