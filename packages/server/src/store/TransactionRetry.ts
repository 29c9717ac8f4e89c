/**
 * A transaction that another one has been in the way of has changed nothing and is made again, whole. Either the database has
 * given it up because the two waited for each other (a deadlock, or a serialization failure), or it has written a row about
 * another that was removed since it was looked at (a foreign key), and the next look says that it is gone. The order of locks
 * is: the account, its tunnels, host names, the set of edges, the queue of a token. A retry is for what no order covers;
 * deadlocks are logged, so that a pair that does not keep the order is found.
 */
import { type Cause, Effect, Option, Predicate } from "effect"
import type { SqlClient } from "effect/sql"

const most = 3
const deadlocks = new Set(["DeadlockError", "SerializationError"])
/** SQLSTATE of PostgreSQL, appendix A. */
const foreignKeyViolation = "23503"

type Collision = "deadlock" | "removed" | undefined

const collisionOf = (error: unknown): Collision => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "reason")) return undefined
  const { reason } = error
  if (Predicate.hasProperty(reason, "_tag") && deadlocks.has(String(reason._tag))) return "deadlock"
  const cause = Predicate.hasProperty(reason, "cause") ? reason.cause : undefined
  return Predicate.hasProperty(cause, "code") && cause.code === foreignKeyViolation ? "removed" : undefined
}

/** Services make the failures of their statements defects. */
const collisionIn = ({ reasons }: Cause.Cause<unknown>): Collision => {
  for (const reason of reasons) {
    const found = collisionOf(reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same client, before anything else uses it. Only a whole transaction is made again, never one inside another. */
export const retryTransaction = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { transactionService, withTransaction } = client
  const attempt = <A, E, R>(
    transaction: Effect.Effect<A, E, R>,
    before: number
  ): ReturnType<typeof withTransaction<R, E, A>> =>
    Effect.catchCause(withTransaction(transaction), (cause) => {
      const collision = before < most ? collisionIn(cause) : undefined
      if (collision === undefined) return Effect.failCause(cause)
      const logged =
        collision === "deadlock"
          ? Effect.logWarning("A transaction was the victim of a deadlock; it is made again.", cause)
          : Effect.void
      return logged.pipe(
        Effect.andThen(Effect.sleep(10 * 2 ** before)),
        Effect.andThen(attempt(transaction, before + 1))
      )
    })
  return Object.assign(client, {
    withTransaction: <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
        Option.isSome(outer) ? withTransaction(transaction) : attempt(transaction, 0)
      )
  })
}
