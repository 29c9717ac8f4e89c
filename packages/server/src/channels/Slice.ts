/** A part of a list that belongs to something and is sorted by one column: what to read it by, and how it is read. */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"

export const Slice = Schema.Struct({
  of: Schema.String,
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})

/** What stands behind the condition of the list: only what comes after the key, in its order, so many. */
export const keysetOn =
  (sql: SqlClient.SqlClient) =>
  (column: string, { after, limit }: Pick<typeof Slice.Type, "after" | "limit">) => sql`
    ${after === undefined ? sql`` : sql`and ${sql(column)} > ${after}`}
    order by ${sql(column)} ${limit === undefined ? sql`` : sql`limit ${limit}`}`
