/** What a visitor gets of an agent, and which agents are asked next where the first one broke. */
import type { Duplex } from "node:stream"
import { type Carrier, instanceOf, type MuxAgent, type SlotAgent, type AgentPool } from "./AgentPool.ts"

/** An agent's stream for one visitor. */
export interface Delivered {
  readonly tunnel: AgentPool
  readonly stream: Duplex
  readonly carrier: Carrier
  readonly agent: MuxAgent | SlotAgent
}

/** What has been done for a visitor whose agent broke. */
export interface Attempts {
  /** Not to be asked again. */
  readonly agents: ReadonlySet<MuxAgent | SlotAgent>
  /** Epoch milliseconds until which an agent may still arrive. */
  readonly waitUntil: number
}

/** Of an agent whose process has ended, the links to other processes of the edge are as dead: what is another agent goes first. */
export const untriedFirst = (candidates: ReadonlyArray<MuxAgent>, { agents }: Attempts) => {
  const tried = new Set(Array.from(agents, instanceOf))
  const left = candidates.filter((agent) => !agents.has(agent))
  const isTried = (agent: MuxAgent) => tried.has(instanceOf(agent))
  return [...left.filter((agent) => !isTried(agent)), ...left.filter(isTried)]
}
