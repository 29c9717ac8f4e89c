/**
 * Detects dead multiplexed agents end to end. A silent agent is asked for an echo; if it does not answer, it is disconnected at
 * once if another agent can serve its tunnel, so that visitors fail over within five seconds. A single agent gets more time,
 * because disconnecting it would break streams that an outage only delays.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { CarrierSession } from "@catenet/wire/transport/Carrier"
import { Effect, FiberSet, Schedule } from "effect"
import type { MuxAgent, AgentPool } from "./AgentPool.ts"

/** With the echo and the pause between two checks 3.25 s, which leaves a margin for busy machines. */
const trustedSilenceMillis = 1_000
const echoMillis = 2_000

const silent = ({ counters }: CarrierSession) =>
  Scheduler.monotonicMillis() - counters.lastReceivedAt >= trustedSilenceMillis

/** Whether more than one agent is connected. An agent connected to several processes counts once. */
const hasAlternative = (tunnel: AgentPool) => {
  if (tunnel.muxes.size + tunnel.parked < 2) return false
  const instances = new Set<string>()
  let others = tunnel.parked
  for (const { instance } of tunnel.muxes)
    if (instance === undefined) others += 1
    else instances.add(instance)
  return instances.size + others > 1
}

/** Asks for an echo, and closes a session that does not answer. */
const prove = (session: CarrierSession): Effect.Effect<boolean> =>
  Effect.promise(() => session.ping()).pipe(
    Effect.map((millis) => millis !== undefined),
    Effect.timeoutOrElse({
      duration: echoMillis,
      orElse: () =>
        Effect.sync(() => {
          session.close("dead", "no echo in time")
          return false
        })
    })
  )

/** Whether an agent may get a visitor without an echo. */
export const isTrusted = (tunnel: AgentPool, { session, sibling }: MuxAgent): boolean =>
  sibling !== undefined || !silent(session) || !hasAlternative(tunnel)

/**
 * Checks an agent before it gets a visitor: false if it is silent, does not answer, and others could serve. An agent of another
 * process is checked there.
 */
export const responsive = (tunnel: AgentPool, agent: MuxAgent): Effect.Effect<boolean> =>
  isTrusted(tunnel, agent) ? Effect.succeed(true) : prove(agent.session)

/** Checks agents with waiting visitors while the scope is open. */
export const watch = Effect.fn("Liveness.watch")(function* (tunnels: () => Iterable<AgentPool>) {
  const run = yield* FiberSet.makeRuntime<never>()
  const asked = new Set<CarrierSession>()
  const ask = (session: CarrierSession) => {
    if (asked.has(session) || session.counters.streamsOpen === 0 || !silent(session)) return
    asked.add(session)
    run(
      Effect.ensuring(
        prove(session),
        Effect.sync(() => asked.delete(session))
      )
    )
  }
  const askAll = Effect.sync(() => {
    for (const tunnel of tunnels())
      if (hasAlternative(tunnel))
        for (const { session, sibling } of tunnel.muxes) if (sibling === undefined) ask(session)
  })
  const asking = Effect.repeat(askAll, Schedule.spaced("250 millis"))
  yield* Effect.forkScoped(asking.pipe(retryForever("asking silent agents")))
})
