/**
 * Moves an agent from TLS back to QUIC: dials periodically, and registers by QUIC before releasing the other registration
 * (agent.md 5.2).
 */
import { Effect, Exit, Fiber, Schedule, Scope } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"
import type { CarrierHealth } from "./CarrierHealth.ts"
import { dialQuic } from "./EdgeConnection.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import type { Serve } from "./MuxSession.ts"
import * as QuicEdgeLink from "./QuicEdgeLink.ts"
import type { Registration } from "./Registration.ts"

/**
 * An edge whose QUIC process was killed sends nothing, and a connection is given up only after ten seconds. So the edge is asked,
 * often while clients use QUIC and occasionally otherwise, and while a question is unanswered the agent registers again beside
 * the old link. On a slow link the answer arrives first, because it was asked first.
 */
const askMillis = 500
/** An idle link is asked once in this many turns. */
const idleTurns = 10
/** On a good link the answer takes a hundredth of this. */
const patienceMillis = 700
const againMillis = 300

/** The result of `register`, if it was needed. Otherwise runs until interrupted. */
const awaitRestart = Effect.fn("QuicUpgrade.run")(function* <A, E, R>(
  { answered, isUsed }: NonNullable<EdgeLink["inquiry"]>,
  register: Effect.Effect<A, E, R>
) {
  for (let quiet = 1; ; quiet++) {
    yield* Effect.sleep(askMillis)
    if (!isUsed() && quiet < idleTurns) continue
    quiet = 0
    const anew = yield* Effect.forkChild(
      Effect.andThen(Effect.sleep(patienceMillis), Effect.retry(register, Schedule.spaced(againMillis)))
    )
    yield* Effect.raceFirst(answered, Effect.asVoid(Fiber.await(anew)))
    yield* Fiber.interrupt(anew)
    // A registration that succeeded at the moment of the answer is used too.
    const made = yield* Fiber.await(anew)
    if (Exit.isSuccess(made)) return made.value
  }
})

/** A link and the scope that it lives in. */
export interface Held {
  readonly link: EdgeLink
  readonly scope: Scope.Closeable
}

/** Whether QUIC is preferred to the current transport. */
export const isWanted = (wanted: ReadonlyArray<Carrier>, now: Carrier) => {
  const at = wanted.indexOf("quic")
  return at >= 0 && at < wanted.indexOf(now)
}

/** Dials, and registers unless the edge was only to be reached; the link lives in a scope below `outer`. */
const attempt = Effect.fnUntraced(function* (
  registration: Registration,
  serve: Serve,
  outer: Scope.Scope,
  registers: boolean
) {
  const info = yield* ConnectionInfo
  const { heard } = yield* AgentMetrics
  const scope = yield* Scope.fork(outer)
  return yield* Effect.gen(function* () {
    const { connection, edge } = yield* dialQuic(info)
    heard()
    if (registers) return { scope, link: yield* QuicEdgeLink.open(edge, connection, registration, serve) }
    return yield* Scope.close(scope, Exit.void)
  }).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
})

/** Another QUIC link, as soon as the current one leaves a question unanswered. */
export const successor = (
  inquiry: NonNullable<EdgeLink["inquiry"]>,
  registration: Registration,
  serve: Serve,
  outer: Scope.Scope
) => awaitRestart(inquiry, attempt(registration, serve, outer, true))

/** The link by QUIC, once there is one; it lives in a scope below `outer`. */
export const run = Effect.fn("QuicUpgrade.run")(function* (
  registration: Registration,
  serve: Serve,
  carrierHealth: CarrierHealth,
  outer: Scope.Scope
) {
  for (let answered = 0; ;) {
    const { answers, pause } = carrierHealth.probing()
    yield* Effect.sleep(pause)
    const found = yield* Effect.result(attempt(registration, serve, outer, answered + 1 >= answers))
    if (found._tag === "Failure") {
      yield* Effect.logDebug(found.failure.message)
      carrierHealth.failed(["quic"])
      answered = 0
    } else if (found.success === undefined) answered++
    else {
      carrierHealth.reached(["quic"])
      return found.success
    }
  }
})
