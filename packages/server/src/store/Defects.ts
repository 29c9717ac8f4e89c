/**
 * A statement that fails, a row that does not decode, a row that must be there and is not: no caller can do
 * anything about it. They become defects at the end of a service's method, and the shell answers for them.
 */
import { type Cause, Effect, Predicate, type Schema } from "effect"
import type { SqlError } from "effect/sql"

type StoreError = SqlError.SqlError | Schema.SchemaError | Cause.NoSuchElementError

const tags: ReadonlySet<unknown> = new Set(["SqlError", "SchemaError", "NoSuchElementError"])

type Meant<E> = Exclude<E, Extract<E, StoreError>>

const isMeant = <E>(error: E): error is Meant<E> => !Predicate.hasProperty(error, "_tag") || !tags.has(error._tag)

/** Turns the failures of the store into defects; refusals that mean something to the caller stay. */
export const asDefects = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Meant<E>, R> =>
  self.pipe(
    Effect.catch((error): Effect.Effect<never, Meant<E>> => (isMeant(error) ? Effect.fail(error) : Effect.die(error)))
  )
