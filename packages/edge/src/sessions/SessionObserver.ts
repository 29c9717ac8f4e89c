/** Observers of agents that connect and disconnect. */
import type { Carrier, MuxAgent, AgentPool } from "./AgentPool.ts"

/** Events of a token's agents, for the session history. */
export interface SessionObserver {
  readonly connected: (tunnel: AgentPool, carrier: Carrier) => void
  /** Another agent has connected, or the tunnel's carrier has changed. */
  readonly carried: (tunnel: AgentPool, carrier: Carrier) => void
  readonly disconnected: (tunnel: AgentPool, reason: "registration-closed" | "revoked") => void
}

/** Events of this process's agents, for the other processes of the edge. */
export interface AgentWatcher {
  readonly joined: (token: string, agent: MuxAgent) => void
  readonly left: (token: string, agent: MuxAgent) => void
  /** It reports another state of a certificate. */
  readonly changed: (token: string, agent: MuxAgent) => void
  /** A slot of the host, or of none, was parked, taken or lost. */
  readonly slots: (tunnel: AgentPool, host: string | undefined) => void
}
