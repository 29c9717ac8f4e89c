/**
 * Where the sibling processes of an edge come in: a Unix socket in a folder that only the owner can enter. A sibling registers
 * the agents it has, and they are then agents here, to which visitors go when none of this process can serve them.
 */
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import type { InboundRegistration } from "@catenet/wire/transport/Registrations"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { rmSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Routes } from "../routes/Routes.ts"
import { refused } from "../sessions/Admissions.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import type { MuxAgent } from "../sessions/Tunnel.ts"
import { siblingLimits } from "./SiblingLimits.ts"

const siblingKeepAliveMillis = 5_000

/** Listens for the life of the scope. */
export const open = Effect.fn("SiblingSocket.open")(function* (path: string) {
  const agents = yield* AgentSessions
  const routes = yield* Routes
  const { ending, report } = yield* ConnectionFaults

  const register = (session: Mux, inbound: InboundRegistration) => {
    const { accept, certificates, id, onCertificate, refuse, request, withdrawn } = inbound
    const token = Buffer.from(request.token).toString("hex")
    if (routes.isRevoked(token)) return refuse(refused("revoked"))
    for (const host of request.hosts) {
      const refusal = routes.bind(host, token)
      if (refusal !== undefined) return refuse(refused(refusal, host))
    }
    const agent: MuxAgent = {
      id,
      session,
      hosts: new Set(request.hosts),
      key: undefined,
      owner: request.agentId === "owner",
      instance: request.instance && Buffer.from(request.instance).toString("hex"),
      answersChallenges: request.answersChallenges === true,
      certificates,
      answersEchoes: request.answersEchoes === true,
      // Its own process ends it.
      end: () => undefined,
      sibling: request.agentId === "slots" ? "slots" : "mux"
    }
    accept({
      sessionId: `sibling-${id}`,
      keepAliveMillis: siblingKeepAliveMillis,
      maxStreams: siblingLimits.maxStreams
    })
    agents.addMux(token, agent)
    onCertificate(() => agents.certificateChanged(token, agent))
    return void withdrawn.then(() => agents.removeMux(token, agent)).catch(report)
  }

  const sessions = new Set<Mux>()
  const serve = (socket: Socket) => {
    guard(socket, ending(socket))
    const session: Mux = new Mux(socket, {
      side: "acceptor",
      challenge: randomBytes(32),
      limits: siblingLimits,
      keepAlive: false,
      onFault: report,
      onRegister: (inbound) => register(session, inbound)
    })
    sessions.add(session)
    void session.closed.then(() => sessions.delete(session))
  }

  yield* Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const server = createServer({ allowHalfOpen: true }, serve)
      server.once("error", (error) => resume(Effect.die(error)))
      // A process before this one that was killed has left its socket.
      rmSync(path, { force: true })
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
