/**
 * The PostgreSQL client of a host program, made fit for the control plane: the schema is brought up to date, and transactions
 * are repeated as those of our own client. The client must be made with `options`; one that is not is refused at the start.
 */
import { PgClient } from "@effect/sql-pg"
import { Data, Effect, Layer } from "effect"
import { conventions as options, migrateWithRetries, resilient } from "./Database.ts"

export { options }

/** The host's client names columns, or reads whole numbers, in another way. */
export class DatabaseOptionsMissing extends Data.TaggedError("DatabaseOptionsMissing") {
  override get message() {
    return "The PgClient does not follow the conventions of the control plane; make it with Server.databaseOptions."
  }
}

const client = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly wholeNumber: unknown }>`select 1::int8 as whole_number`
  if (row?.wholeNumber !== 1) return yield* new DatabaseOptionsMissing()
  return resilient(sql)
})

/** Serves the control plane from the host's client. */
export const layer = Layer.effectDiscard(migrateWithRetries).pipe(Layer.provideMerge(PgClient.layerFrom(client)))
