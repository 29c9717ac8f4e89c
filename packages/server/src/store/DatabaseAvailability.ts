/**
 * Whether the database is unavailable: it does not answer, is starting or stopping, or accepts no more connections. The
 * same statement may succeed later.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Data, Effect, Predicate, Schedule } from "effect"

/** Below the wrappers of the client. */
export const innermost = (error: unknown): unknown => {
  // An error of Node's TLS has a reason too, and it is a text.
  if (Predicate.hasProperty(error, "reason") && typeof error.reason === "object") return innermost(error.reason)
  return Predicate.hasProperty(error, "cause") && error.cause !== undefined ? innermost(error.cause) : error
}

/** What the system or the database said of a failure, to stand within a sentence. */
export const describeError = (error: unknown): string => {
  const cause = innermost(error)
  const messages = cause instanceof AggregateError ? cause.errors.map(describeError).join(", ") : ""
  return messages || clause(cause instanceof Error ? cause.message : String(cause))
}

/** The database does not answer. */
export class DatabaseUnreachable extends Data.TaggedError("DatabaseUnreachable")<{ readonly cause: unknown }> {
  override get message() {
    return `The database does not answer (${describeError(this.cause)}); see to it that the server is up and that CT_CP_DATABASE_URL names it.`
  }
}

/** Says once why a start does not go on. */
export const logWaiting = (error: unknown) =>
  Effect.logWarning(`The database does not respond yet (${describeError(error)}); trying for 30 seconds.`)

/**
 * SQLSTATEs with which a server says so itself: it was shut down, has crashed, is starting up, has ended an idle session, is full, or
 * takes no writes, as a standby until it is promoted.
 */
const passing: ReadonlySet<unknown> = new Set(["57P01", "57P02", "57P03", "57P05", "53300", "25006"])

/** Any failure or defect; only a `SqlError` can be one. */
export const isUnavailable = (error: unknown): boolean => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "reason")) return false
  const { reason } = error
  if (Predicate.isTagged(reason, "ConnectionError")) return true
  const cause = Predicate.hasProperty(reason, "cause") ? reason.cause : undefined
  return Predicate.hasProperty(cause, "code") && passing.has(cause.code)
}

/** A database that starts together with this program, or has just crashed, may need a moment. */
export const whileStarting = Schedule.spaced("500 millis").pipe(Schedule.upTo({ times: 60, duration: "30 seconds" }))

/** Tries again for 30 seconds while the database is unavailable. For what a program does before it serves, and may do twice. */
export const retryWhileUnavailable = <A, E, R>(asked: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(asked, { schedule: whileStarting, while: isUnavailable })
