/**
 * Whether a multiplexed agent still answers, from end to end. An agent that is silent is asked for an echo; one that does
 * not give it is cut off at once when another agent can serve its tunnel, so that visitors fail over within five seconds.
 * A tunnel with a single agent is given more time: cutting it would tear what an outage only delays.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { CarrierSession } from "@catenet/wire/transport/Carrier"
import { Effect, FiberSet, Schedule } from "effect"
import type { MuxAgent, AgentPool } from "./AgentPool.ts"

/** Together with the echo and the pause between two looks 3.25 s, which leaves a busy machine some of the five. */
const trustedSilenceMillis = 1_000
const echoMillis = 2_000

const silent = ({ counters }: CarrierSession) =>
  Scheduler.monotonicMillis() - counters.lastReceivedAt >= trustedSilenceMillis

/** Whether more than one agent is there. One that is connected to several processes of the edge is still one. */
const hasAlternative = (tunnel: AgentPool) => {
  if (tunnel.muxes.size + tunnel.parked < 2) return false
  const instances = new Set<string>()
  let others = tunnel.parked
  for (const { instance } of tunnel.muxes)
    if (instance === undefined) others += 1
    else instances.add(instance)
  return instances.size + others > 1
}

/** Asks for an echo. A session that does not give one is closed. */
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

/** An agent that gets a visitor without being asked. */
export const isTrusted = (tunnel: AgentPool, { session, sibling }: MuxAgent): boolean =>
  sibling !== undefined || !silent(session) || !hasAlternative(tunnel)

/**
 * Before an agent gets a visitor: false when it is silent, others could serve, and it does not answer. An agent of another
 * process is judged there.
 */
export const responsive = (tunnel: AgentPool, agent: MuxAgent): Effect.Effect<boolean> =>
  isTrusted(tunnel, agent) ? Effect.succeed(true) : prove(agent.session)

/** Watches agents whose visitors may be waiting for a dead one, for as long as the scope lives. */
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
