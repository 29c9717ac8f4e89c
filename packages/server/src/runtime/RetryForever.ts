/** Background work for the life of the program: a failure is logged, and the work is tried again. */
import { Effect, Schedule } from "effect"

const pause = "1 second"

/** `what` begins the sentence that logs a failure. A defect counts as a failure: one bad round must not be the last. */
export const retryForever =
  (what: string) =>
  <E, R>(round: Effect.Effect<void, E, R>) =>
    round.pipe(
      Effect.forever,
      Effect.catchCause((cause) => Effect.logWarning(`${what} failed and is tried again.`, cause)),
      Effect.repeat(Schedule.spaced(pause))
    )
