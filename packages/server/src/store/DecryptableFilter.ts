/** SQL that selects the sealed values this process can open: the rest is left to a replica that has the key. */
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
