/**
 * Passes a visitor whose agent broke before its first byte to another agent: one at a time, none twice, at most three in all, and
 * waits for one to arrive no longer than other visitors wait.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { StreamReset } from "@catenet/wire/transport/Carrier"
import { Clock, Effect, Exit } from "effect"
import type { Duplex } from "node:stream"
import { Counters } from "../observe/Counters.ts"
import { instanceOf } from "../sessions/AgentPool.ts"
import type { TunnelOffline } from "../sessions/AgentSessions.ts"
import type { Attempts, Delivered } from "../sessions/StreamDelivery.ts"
import { Settings } from "../settings/Settings.ts"
import type { ReplayBuffer } from "./ReplayBuffer.ts"

const maxAgents = 3

/** How a visitor is passed to another agent. */
export interface FailOver {
  /** Whether the visitor's bytes so far may be repeated to another agent. */
  readonly repeatable: () => boolean
  readonly deliver: (attempts: Attempts) => Effect.Effect<Delivered, TunnelOffline>
}

/** Only an agent that has gone may come back in time; one that is connected would break again. */
const hasGone = ({ errored }: Duplex) =>
  errored instanceof StreamReset ? errored.code === "lost" || errored.code === "draining" : errored !== null

export const make = Effect.gen(function* () {
  const { deliverWaitMillis } = yield* Settings
  const counters = yield* Counters
  const scope = yield* Effect.scope

  /** Another agent; undefined if there is none or the relay is cut first. A stream that arrives too late is closed. */
  const another = Effect.fnUntraced(function* ({ deliver }: FailOver, attempts: Attempts, signal: AbortSignal) {
    const asked = yield* Effect.forkIn(deliver(attempts), scope)
    return yield* Effect.callback<Delivered | undefined>((resume) => {
      const cut = () => resume(Effect.undefined)
      signal.addEventListener("abort", cut)
      asked.addObserver((exit) => {
        signal.removeEventListener("abort", cut)
        const found = Exit.isSuccess(exit) ? exit.value : undefined
        if (signal.aborted && found !== undefined) abort(found.stream)
        resume(Effect.succeed(found))
      })
      if (signal.aborted) cut()
    })
  })

  /** After the first agent broke: the first agent that answered, or the last one tried; its bytes are still unread. */
  return Effect.fnUntraced(function* (
    broken: Delivered,
    failOver: FailOver,
    opening: ReplayBuffer,
    signal: AbortSignal
  ) {
    const attempts = new Set([broken.agent])
    // Each of its links is tried once, and all of them count as one agent.
    const asked = () => new Set(Array.from(attempts, instanceOf)).size
    const deadline = (yield* Clock.currentTimeMillis) + deliverWaitMillis
    let agent = broken
    let isBroken = true
    while (isBroken && asked() < maxAgents) {
      const waitUntil = hasGone(agent.stream) ? deadline : 0
      const next = yield* another(failOver, { agents: attempts, waitUntil }, signal)
      if (next === undefined) break
      counters.failovers += 1
      abort(agent.stream)
      attempts.add(next.agent)
      agent = next
      isBroken = yield* Effect.callback<boolean>((resume) =>
        opening.open(next, (broke) => resume(Effect.succeed(broke)))
      )
    }
    return agent
  })
})
