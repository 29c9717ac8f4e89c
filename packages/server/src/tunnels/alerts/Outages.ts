/**
 * The outage check: looks at every tunnel with an alert once a tick, by the first replica that takes it. Reports are
 * queued in the transaction that stores the new state, so none is lost or sent twice. A silent edge changes nothing:
 * while one is silent, a tunnel that no other edge serves is neither up nor down.
 */
import type { AlertEvent } from "@catenet/domain/tunnels/Alert"
import { type Evidence, look, observed } from "@catenet/domain/tunnels/Outage"
import { isReached } from "@catenet/domain/tunnels/Reachability"
import type { TunnelId } from "@catenet/domain/values/Ids"
import type { UnixSeconds } from "@catenet/domain/values/Numbers"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { retryForever } from "@catenet/platform/RetryForever"
import { Context, Effect, FiberSet, Layer, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { anyOf, EdgeFacts, reachOf } from "../../edges/EdgeFacts.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import { AlertDeliveries } from "./AlertDeliveries.ts"
import { AlertStore, watchOf } from "./AlertStore.ts"
import { TunnelWatches } from "./TunnelWatches.ts"

const batch = 64

export class Outages extends Context.Service<
  Outages,
  {
    /** Looks at everything that is due; where this process can ask no edge, the looks are left to others. */
    readonly lookAtDue: Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/tunnels/alerts/Outages") {
  static readonly make = Effect.gen(function* () {
    const store = yield* AlertStore
    const edge = yield* EdgeFacts
    const deliveries = yield* AlertDeliveries
    const { alertIntervalSeconds } = yield* Settings

    const evidenceOf = Effect.fnUntraced(function* (token: RoutingToken): Effect.fn.Return<Evidence> {
      const [status, known] = yield* Effect.all([edge.status(token), edge.history(token, 1)], { concurrency: 2 })
      const history = known._tag === "Known" ? Option.some(known.history) : Option.none()
      return {
        connected: anyOf(status, ({ connected }) => connected),
        reached: isReached(reachOf(status, Option.getOrUndefined(status.known))),
        sessionOpen: anyOf({ known: history, silent: known.silent }, ({ open }) => open)
      }
    })

    const judge = Effect.fnUntraced(function* (tunnelId: TunnelId, evidence: Evidence) {
      const found = yield* store.lock(tunnelId)
      if (Option.isNone(found)) return
      const { subject, thresholdSeconds } = found.value
      const watch = watchOf(found.value)
      const now = yield* unixSeconds
      // The budget is asked only by who would spend it.
      const wished = look(watch, { evidence, thresholdSeconds, mayDeliver: true }, now)
      const mayDeliver = wished.effects.length === 0 || (yield* deliveries.mayDeliver(subject))
      const { effects, next } = mayDeliver ? wished : look(watch, { evidence, thresholdSeconds, mayDeliver }, now)
      if (next !== watch) yield* store.watch(tunnelId, next)
      const report = (event: AlertEvent, since: UnixSeconds) => ({ subject, tunnelId, event, since, thresholdSeconds })
      for (const effect of effects) {
        if (effect._tag === "Deliver") yield* deliveries.enqueue(report(effect.event, effect.since))
        else yield* deliveries.skip(report(effect.event, watch.since))
      }
    }, store.transaction)

    const lookAt = Effect.fnUntraced(function* (alert: {
      readonly tunnelId: TunnelId
      readonly routingToken: RoutingToken
    }) {
      const evidence = yield* evidenceOf(alert.routingToken)
      if (observed(evidence) !== "silent") yield* judge(alert.tunnelId, evidence)
    })

    const lookAtBatch = Effect.fn("Outages.lookAtBatch")(function* () {
      const now = yield* unixSeconds
      const due = yield* store.takeDue({ now, next: now + alertIntervalSeconds, limit: batch })
      yield* Effect.forEach(due, lookAt, { concurrency: 16, discard: true })
      return due.length
    })

    return {
      lookAtDue: Effect.flatMap(edge.askable, (askable) =>
        askable ? Effect.asVoid(Effect.repeat(lookAtBatch(), { while: (count) => count === batch })) : Effect.void
      )
    }
  })

  static readonly layer = Layer.effect(Outages, Outages.make).pipe(
    Layer.provide([AlertDeliveries.layer, EdgeFacts.layer, AlertStore.layer])
  )
}

/** Deliveries that one replica makes at the same time. */
const atOnce = 64

const looking = Effect.gen(function* () {
  const { alertIntervalSeconds } = yield* Settings
  const { lookAtDue } = yield* Outages
  // Looks of different tunnels become due at different times.
  const pause = `${Math.min(alertIntervalSeconds, 5)} seconds` as const
  yield* Effect.andThen(lookAtDue, Effect.sleep(pause)).pipe(retryForever("The outage check"))
})

const watching = Effect.gen(function* () {
  const { alertIntervalSeconds } = yield* Settings
  const { lookAround } = yield* TunnelWatches
  const pause = `${Math.min(alertIntervalSeconds, 5)} seconds` as const
  yield* Effect.andThen(lookAround, Effect.sleep(pause)).pipe(retryForever("The round over all tunnels"))
})

const delivering = Effect.gen(function* () {
  const { deliver, lease } = yield* AlertDeliveries
  const running = yield* FiberSet.make<void>()
  yield* Effect.gen(function* () {
    const free = atOnce - (yield* FiberSet.size(running))
    const pending = free === 0 ? [] : yield* lease(free)
    for (const each of pending) {
      const safe = Effect.catchCause(deliver(each), (cause) => Effect.logError("A delivery failed.", cause))
      yield* FiberSet.run(running, safe)
    }
    if (pending.length === 0) yield* Effect.sleep("1 second")
  }).pipe(retryForever("Taking deliveries"))
})

/**
 * The loops of alerts: one checks tunnels with an alert, one all tunnels, and one delivers, so that a slow receiver delays no
 * check. They run as long as the layer lives.
 */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(looking).pipe(
    Effect.andThen(Effect.forkScoped(watching)),
    Effect.andThen(Effect.forkScoped(delivering))
  )
).pipe(Layer.provide([AlertDeliveries.layer, Outages.layer, TunnelWatches.layer]))
