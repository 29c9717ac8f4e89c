/**
 * Whether the database is away: nobody answers, it starts or ends, or it takes no more connections. That passes, and is
 * nobody's fault here; whoever asks again later may get an answer.
 */
import { Predicate } from "effect"

/** SQLSTATEs with which a server says so itself: it was shut down, has crashed, is starting up, or is full. */
const passing: ReadonlySet<unknown> = new Set(["57P01", "57P02", "57P03", "53300"])

/** Any failure or defect; only a `SqlError` can be one. */
export const isAway = (error: unknown): boolean => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "reason")) return false
  const { reason } = error
  if (Predicate.isTagged(reason, "ConnectionError")) return true
  const cause = Predicate.hasProperty(reason, "cause") ? reason.cause : undefined
  return Predicate.hasProperty(cause, "code") && passing.has(cause.code)
}
