/** Lists of tokens that are kept by their hash, in the order of the hash. */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"

export const ByHash = Schema.Struct({
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})

/** The end of a statement that selects rows by some condition. */
export const sliceByHash = (sql: SqlClient.SqlClient, { after, limit }: typeof ByHash.Type) =>
  sql`${after === undefined ? sql`` : sql`and token_hash > ${after}`} order by token_hash
    ${limit === undefined ? sql`` : sql`limit ${limit}`}`
