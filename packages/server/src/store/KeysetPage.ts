/** A part of a list that is sorted by one column: what to read it by, and how it is read. */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"

/** Of a list of all there is. */
export const PageOfAll = Schema.Struct({
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})

/** Of a list that belongs to something. */
export const PageRequest = Schema.Struct({ of: Schema.String, ...PageOfAll.fields })

/** What stands behind the condition of the list: only what comes after the key, in its order, so many. */
export const keysetOn =
  (sql: SqlClient.SqlClient) =>
  (column: string, { after, limit }: typeof PageOfAll.Type) => sql`
    ${after === undefined ? sql`` : sql`and ${sql(column)} > ${after}`}
    order by ${sql(column)} ${limit === undefined ? sql`` : sql`limit ${limit}`}`
