/** Maps violations of named constraints to the errors that they mean. */
import { Effect, Predicate } from "effect"
import type { SqlError } from "effect/sql"

/** Turns the violation of the constraint of this name into another error, given its detail; all other errors stay. */
export const mapConstraint =
  <E2>(constraint: string, error: (detail: unknown) => E2) =>
  <A, E, R>(self: Effect.Effect<A, E | SqlError.SqlError, R>): Effect.Effect<A, E | E2 | SqlError.SqlError, R> =>
    Effect.catchIf(
      self,
      (failure): failure is E & Violation => isViolation(failure, constraint),
      ({ reason }) => Effect.fail(error(reason.cause.detail))
    )

interface Violation extends SqlError.SqlError {
  readonly reason: SqlError.SqlError["reason"] & { readonly cause: { readonly detail?: unknown } }
}

const isViolation = (failure: unknown, constraint: string): boolean =>
  isSqlError(failure) &&
  Predicate.hasProperty(failure.reason.cause, "constraint") &&
  failure.reason.cause.constraint === constraint

const isSqlError = (failure: unknown): failure is SqlError.SqlError =>
  typeof failure === "object" && failure !== null && "_tag" in failure && failure._tag === "SqlError"
