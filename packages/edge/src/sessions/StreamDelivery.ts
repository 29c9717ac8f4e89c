/** What a visitor gets of an agent, and which agents are asked next where the first one broke. */
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

/** What has been done for a visitor whose agent broke. */
export interface Attempts {
  /** Not to be asked again. */
  readonly agents: ReadonlySet<MuxAgent | SlotAgent>
  /** Epoch milliseconds until which an agent may still arrive. */
  readonly waitUntil: number
}

/** Of an agent whose process has ended, the links to other processes of the edge are as dead: what is another agent goes first. */
const untriedFirst = (candidates: ReadonlyArray<MuxAgent>, { agents }: Attempts) => {
  const tried = new Set(Array.from(agents, instanceOf))
  const left = candidates.filter((agent) => !agents.has(agent))
  const isTried = (agent: MuxAgent) => tried.has(instanceOf(agent))
  return [...left.filter((agent) => !isTried(agent)), ...left.filter(isTried)]
}

/** How nearly all visitors get their agent: the first that would be asked anyway, if it is known to live. */
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
