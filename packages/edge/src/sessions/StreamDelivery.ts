/** Opens a visitor's stream to an agent, and orders the agents to try next if the first one broke. */
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import type { Counters } from "../observe/Counters.ts"
import {
  type AgentPool,
  type AgentTarget,
  type Carrier,
  carrierOf,
  instanceOf,
  type MuxAgent,
  type SlotAgent
} from "./AgentPool.ts"
import * as Liveness from "./Liveness.ts"
import * as StreamShares from "./StreamShares.ts"

export type StreamHeader = Omit<OpenHeader, "registration">

/** An agent's stream for one visitor. */
export interface Delivered {
  readonly tunnel: AgentPool
  readonly stream: Duplex
  readonly carrier: Carrier
  readonly agent: MuxAgent | SlotAgent
}

/** Earlier attempts for a visitor whose agent broke. */
export interface Attempts {
  /** Agents not to try again. */
  readonly agents: ReadonlySet<MuxAgent | SlotAgent>
  /** Epoch milliseconds until which an agent may still arrive. */
  readonly waitUntil: number
}

/** If an agent's process has ended, its links to other processes of the edge are dead too, so other agents go first. */
const untriedFirst = (candidates: ReadonlyArray<MuxAgent>, { agents }: Attempts) => {
  const tried = new Set(Array.from(agents, instanceOf))
  const left = candidates.filter((agent) => !agents.has(agent))
  const isTried = (agent: MuxAgent) => tried.has(instanceOf(agent))
  return [...left.filter((agent) => !isTried(agent)), ...left.filter(isTried)]
}

/** Serves nearly all visitors: the first candidate, if it is known to be alive. */
export const fromReady = (tunnel: AgentPool, target: AgentTarget, header: StreamHeader) => {
  const agent = tunnel.best(target)
  if (agent === undefined || !Liveness.isTrusted(tunnel, agent)) return undefined
  const opened = StreamShares.open(agent.session, { ...header, registration: agent.id })
  if (Result.isFailure(opened)) return undefined
  return { tunnel, stream: opened.success, carrier: carrierOf(agent, "mux"), agent }
}

/** The first of these that responds and takes the stream. */
export const fromMux = Effect.fnUntraced(function* (
  counters: Counters["Service"],
  tunnel: AgentPool,
  candidates: ReadonlyArray<MuxAgent>,
  carrier: Carrier,
  header: StreamHeader,
  attempts: Attempts | undefined
) {
  for (const agent of attempts === undefined ? candidates : untriedFirst(candidates, attempts)) {
    if (yield* Liveness.responsive(tunnel, agent)) {
      const opened = StreamShares.open(agent.session, { ...header, registration: agent.id })
      if (Result.isSuccess(opened)) return { tunnel, stream: opened.success, carrier: carrierOf(agent, carrier), agent }
    }
    counters.failovers += 1
  }
  return undefined
})

/** Waits until an agent for the target arrives. */
export const awaitArrival = (tunnel: AgentPool, target: AgentTarget) =>
  Effect.callback<void>((resume) => {
    const stop = tunnel.onArrival(target, () => resume(Effect.void))
    return Effect.sync(stop)
  })
