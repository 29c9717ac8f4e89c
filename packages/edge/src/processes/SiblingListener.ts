/** A Unix socket in the private folder of this edge, for its other processes. Each of them has one session. */
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

/** Listens while the scope is open. `takes` returns the handlers of a session, and gets a function that returns that session. */
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
      // A killed process may have left its socket.
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
