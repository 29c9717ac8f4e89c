/** Background work for the life of an edge: a fault in one round of it is logged, and is not the end of the work. */
import { Effect, Schedule } from "effect"

const pause = "1 second"

/** `what` begins the sentence that logs a fault. The work ends by none of its own. */
export const retryForever =
  (what: string) =>
  <A, R>(work: Effect.Effect<A, never, R>) =>
    work.pipe(
      Effect.catchCause((cause) => Effect.logError(`${what} failed and is tried again`, cause)),
      Effect.repeat(Schedule.spaced(pause))
    )
