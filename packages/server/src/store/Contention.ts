/**
 * A transaction that the database has given up because it and another waited for each other (a deadlock, or a serialization
 * failure) has changed nothing and is made again, whole. The order of locks is: the account, its tunnels, host names, the set of
 * edges, the queue of a token. A retry is for what no order covers; each is logged, so that a pair that does not keep the
 * order is found.
 */
import { type Cause, Effect, Option, Predicate } from "effect"
import type { SqlClient } from "effect/sql"

const most = 3
const given = new Set(["DeadlockError", "SerializationError"])

const isContention = (error: unknown): boolean =>
  Predicate.isTagged(error, "SqlError") &&
  Predicate.hasProperty(error, "reason") &&
  Predicate.hasProperty(error.reason, "_tag") &&
  given.has(String(error.reason._tag))

/** Services make the failures of their statements defects. */
const isGivenUp = ({ reasons }: Cause.Cause<unknown>) =>
  reasons.some(
    (reason) =>
      (reason._tag === "Fail" && isContention(reason.error)) || (reason._tag === "Die" && isContention(reason.defect))
  )

/** The same client, before anything else uses it. Only a whole transaction is made again, never one inside another. */
export const retrying = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { transactionService, withTransaction } = client
  const attempt = <A, E, R>(
    transaction: Effect.Effect<A, E, R>,
    before: number
  ): ReturnType<typeof withTransaction<R, E, A>> =>
    Effect.catchCause(withTransaction(transaction), (cause) =>
      before < most && isGivenUp(cause)
        ? Effect.logWarning("A transaction was the victim of a deadlock; it is made again.", cause).pipe(
            Effect.andThen(Effect.sleep(10 * 2 ** before)),
            Effect.andThen(attempt(transaction, before + 1))
          )
        : Effect.failCause(cause)
    )
  return Object.assign(client, {
    withTransaction: <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
        Option.isSome(outer) ? withTransaction(transaction) : attempt(transaction, 0)
      )
  })
}
