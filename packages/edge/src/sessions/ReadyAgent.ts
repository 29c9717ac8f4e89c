/** How nearly all visitors get their agent: the first that would be asked anyway, without waiting for anything. */
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { Result } from "effect"
import { type AgentTarget, carrierOf, type AgentPool } from "./AgentPool.ts"
import * as Liveness from "./Liveness.ts"
import * as StreamShares from "./StreamShares.ts"

/** Nothing when that agent has to be asked whether it lives, is not there, or refuses. */
export const deliver = (tunnel: AgentPool, target: AgentTarget, header: Omit<OpenHeader, "registration">) => {
  const agent = tunnel.best(target)
  if (agent === undefined || !Liveness.isTrusted(tunnel, agent)) return undefined
  const opened = StreamShares.open(agent.session, { ...header, registration: agent.id })
  if (Result.isFailure(opened)) return undefined
  return { tunnel, stream: opened.success, carrier: carrierOf(agent, "mux"), agent }
}
