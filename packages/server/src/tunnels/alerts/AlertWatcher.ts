/**
 * The loops of alerts: one looks at tunnels with an alert, one at all tunnels, one delivers, so that a slow receiver delays no
 * look.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, FiberSet, Layer } from "effect"
import { Settings } from "../../settings/Settings.ts"
import { AlertDeliveries } from "./AlertDeliveries.ts"
import { Outages } from "./Outages.ts"
import { TunnelWatches } from "./TunnelWatches.ts"

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

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(looking).pipe(
    Effect.andThen(Effect.forkScoped(watching)),
    Effect.andThen(Effect.forkScoped(delivering))
  )
).pipe(Layer.provide([AlertDeliveries.layer, Outages.layer, TunnelWatches.layer]))
