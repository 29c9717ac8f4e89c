/** Background work for the life of a program: a failure of one round is logged, and the work is tried again. */
import { Cause, Effect, Schedule } from "effect"

const pause = "1 second"

/**
 * Repeats `work` at once when it succeeds and after a second when it fails; it never ends. `what` begins the sentence that logs a
 * failure: a warning, or an error for a defect, which must not be the last round either.
 */
export const retryForever =
  (what: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    work.pipe(
      Effect.forever,
      Effect.catchCause((cause) =>
        (Cause.hasDies(cause) ? Effect.logError : Effect.logWarning)(`${what} failed and is tried again.`, cause)
      ),
      Effect.repeat(Schedule.spaced(pause))
    )
