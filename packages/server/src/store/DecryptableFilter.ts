/** Tells in SQL which sealed values this process can open: work that needs another is left to a replica that has its key. */
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Sealing } from "./Sealing.ts"

/** The condition for a column; text from before sealing is readable as it stands. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { keyIds } = yield* Sealing
  return (column: string): Statement.Fragment =>
    sql`(${sql(column)} not like 's1.%' or substr(${sql(column)}, 4, 8) = any(${keyIds}::text[]))`
})
