/** Who is called when agents come and go. */
import type { Carrier, MuxAgent, AgentPool } from "./AgentPool.ts"

/** What happens to the agents of a token, for the session history. */
export interface SessionObserver {
  readonly connected: (tunnel: AgentPool, carrier: Carrier) => void
  /** An agent came to those that are there; the tunnel is now carried so. */
  readonly carried: (tunnel: AgentPool, carrier: Carrier) => void
  readonly disconnected: (tunnel: AgentPool, reason: "registration-closed" | "revoked") => void
}

/** What happens to the agents of this process, for those who tell the other processes of the edge. */
export interface AgentWatcher {
  readonly joined: (token: string, agent: MuxAgent) => void
  readonly left: (token: string, agent: MuxAgent) => void
  /** It says something else of a certificate. */
  readonly changed: (token: string, agent: MuxAgent) => void
  /** A slot of the host, or of none, was parked, taken or lost. */
  readonly slots: (tunnel: AgentPool, host: string | undefined) => void
}
