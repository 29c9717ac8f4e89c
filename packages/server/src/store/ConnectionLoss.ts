/**
 * A transaction whose connection is lost fails with the `SqlError` that says so. The driver cannot roll it back either and
 * makes that a defect, which would end what only handles a failed statement.
 */
import { Effect, Predicate } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isUnavailable } from "./DatabaseAvailability.ts"

const isLost = (defect: unknown): defect is SqlError.SqlError =>
  Predicate.isTagged(defect, "SqlError") && isUnavailable(defect)

/** The same client, before anything else uses it. */
export const failing = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { withTransaction } = client
  return Object.assign(client, {
    withTransaction: <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
      Effect.catchDefect(withTransaction(transaction), (defect) =>
        isLost(defect) ? Effect.fail(defect) : Effect.die(defect)
      )
  })
}
