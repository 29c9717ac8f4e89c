/**
 * Accepts the sibling processes of an edge. A sibling registers its agents, which then serve visitors here if no agent of this
 * process can.
 */
import type { Mux } from "@catenet/wire/transport/Mux"
import type { InboundRegistration } from "@catenet/wire/transport/Registrations"
import { Effect } from "effect"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Routes } from "../routes/Routes.ts"
import { refused } from "../sessions/AgentAdmissions.ts"
import { type MuxAgent, versionIn } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { siblingLimits } from "./SiblingLimits.ts"
import * as SiblingListener from "./SiblingListener.ts"

const siblingKeepAliveMillis = 5_000

/** Listens for the life of the scope. */
export const open = Effect.fn("SiblingSocket.open")(function* (path: string) {
  const agents = yield* AgentSessions
  const routes = yield* Routes
  const { report } = yield* ConnectionFaults

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
      enforces: request.enforces,
      version: versionIn(request),
      // Its own process closes it.
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

  yield* SiblingListener.open(path, (session) => ({ onRegister: (inbound) => register(session(), inbound) }))
})
