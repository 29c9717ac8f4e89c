/** Ends in the background what was left of service accounts, on whichever replica comes first. */
import { Effect, Layer, Schedule } from "effect"
import { Settings } from "../settings/Settings.ts"
import { ServiceAccounts } from "./ServiceAccounts.ts"

const work = Effect.gen(function* () {
  const { prune } = yield* ServiceAccounts
  const { serviceAccountCleanupSeconds } = yield* Settings
  yield* prune().pipe(
    Effect.repeat({ while: (count) => count > 0 }),
    Effect.catchCause((cause) =>
      Effect.logWarning("Service accounts could not be cleaned up; it is tried again.", cause)
    ),
    Effect.repeat(Schedule.spaced(`${serviceAccountCleanupSeconds} seconds`))
  )
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work)).pipe(Layer.provide([ServiceAccounts.layer]))
