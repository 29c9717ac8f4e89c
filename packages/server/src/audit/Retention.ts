/** Forgets audit entries that are older than the operator wants to keep, once an hour. Without a limit, nothing ever. */
import { Effect, Layer, Schedule } from "effect"
import { Settings } from "../Settings.ts"
import { Audits } from "./Audits.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { auditRetentionDays } = yield* Settings
    const audits = yield* Audits
    if (auditRetentionDays === undefined) return
    yield* audits.retain(auditRetentionDays).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Old audit entries could not be forgotten.", cause)),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped
    )
  })
)
