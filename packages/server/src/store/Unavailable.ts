/**
 * Whether the database is unavailable: it does not answer, starts or ends, or takes no more connections. That passes, and the
 * same statement may succeed later.
 */
import { Effect, Predicate, Schedule } from "effect"

/** SQLSTATEs with which a server says so itself: it was shut down, has crashed, is starting up, or is full. */
const passing: ReadonlySet<unknown> = new Set(["57P01", "57P02", "57P03", "53300"])

/** Any failure or defect; only a `SqlError` can be one. */
export const isUnavailable = (error: unknown): boolean => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "reason")) return false
  const { reason } = error
  if (Predicate.isTagged(reason, "ConnectionError")) return true
  const cause = Predicate.hasProperty(reason, "cause") ? reason.cause : undefined
  return Predicate.hasProperty(cause, "code") && passing.has(cause.code)
}

/** A database that starts together with this program, or has just crashed, may need a moment. */
export const whileStarting = Schedule.spaced("500 millis").pipe(Schedule.upTo({ times: 60 }))

/** Tries again for 30 seconds while the database is unavailable. For what a program does before it serves, and may do twice. */
export const retryWhileUnavailable = <A, E, R>(asked: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(asked, { schedule: whileStarting, while: isUnavailable })
