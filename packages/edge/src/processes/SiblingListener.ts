/**
 * A Unix socket in the folder of this edge, which only the owner can enter, where its other processes come in. Each has a session
 * of its own there.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import { Sockets } from "@catenet/platform/Sockets"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import type { MuxOptions } from "@catenet/wire/transport/MuxOptions"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { siblingLimits } from "./SiblingLimits.ts"

/** Listens for the life of the scope. `takes` says what a session, which it may ask for later, is for. */
export const open = Effect.fn("SiblingListener.open")(function* (
  path: string,
  takes: (session: () => Mux) => Pick<MuxOptions, "onRegister" | "onStream">
) {
  const { ending, report } = yield* ConnectionFaults
  const sessions = new Set<Mux>()

  const serve = (socket: Socket) => {
    guard(socket, ending(socket))
    const session: Mux = new Mux(socket, {
      side: "acceptor",
      challenge: Entropy.randomBytes(32),
      limits: siblingLimits,
      keepAlive: false,
      onFault: report,
      ...takes(() => session)
    })
    sessions.add(session)
    void session.closed.then(() => sessions.delete(session))
  }

  yield* Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const server = Sockets.tcpServer({ allowHalfOpen: true }, serve)
      server.once("error", (error) => resume(Effect.die(error)))
      // A process before this one that was killed has left its socket.
      Files.rmSync(path, { force: true })
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
