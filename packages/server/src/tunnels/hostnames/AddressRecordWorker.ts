/** Keeps address records as they should be for as long as the layer lives, where there is a zone for them. */
import { Effect, Layer, Schedule } from "effect"
import { Settings } from "../../settings/Settings.ts"
import { AddressRecords } from "./AddressRecords.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { review, work, zone } = yield* AddressRecords
    const { outboxIntervalSeconds } = yield* Settings
    if (zone === undefined) return
    const quietly = Effect.catchCause(work, (cause) => Effect.logWarning("Address records could not be kept.", cause))
    yield* Effect.retry(Effect.sandbox(review), Schedule.spaced("5 seconds")).pipe(
      Effect.andThen(Effect.repeat(quietly, Schedule.spaced(`${outboxIntervalSeconds} seconds`))),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([AddressRecords.layer]))
