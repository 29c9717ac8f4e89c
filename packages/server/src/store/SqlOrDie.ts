/**
 * A failed statement, a row that does not decode, a required row that is missing: callers can do nothing about these.
 * They become defects at the end of a service's method, and the middleware answers.
 */
import { type Cause, Effect, Predicate, type Schema } from "effect"
import type { SqlError } from "effect/sql"

type StoreError = SqlError.SqlError | Schema.SchemaError | Cause.NoSuchElementError

const tags: ReadonlySet<unknown> = new Set(["SqlError", "SchemaError", "NoSuchElementError"])

type DomainErrorOf<E> = Exclude<E, Extract<E, StoreError>>

const isDomainError = <E>(error: E): error is DomainErrorOf<E> =>
  !Predicate.hasProperty(error, "_tag") || !tags.has(error._tag)

/** Turns the failures of the store into defects; refusals that mean something to the caller stay. */
export const sqlOrDie = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, DomainErrorOf<E>, R> =>
  self.pipe(
    Effect.catch((error): Effect.Effect<never, DomainErrorOf<E>> =>
      isDomainError(error) ? Effect.fail(error) : Effect.die(error)
    )
  )

interface Store {
  readonly transaction: <R, E, A>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
}

/** Makes a command a transaction of the store; failures of the store are defects. */
export const inTransactionOf =
  (store: Store) =>
  <A, E, R>(self: Effect.Effect<A, E, R>) =>
    sqlOrDie(store.transaction(self))

/** The same for a function over a state with its store. */
export const inTransaction = <A, E, R>(self: Effect.Effect<A, E, R>, { store }: { readonly store: Store }) =>
  sqlOrDie(store.transaction(self))
