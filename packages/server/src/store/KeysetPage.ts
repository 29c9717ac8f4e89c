/** Keyset pagination: reads a part of a list that is sorted by one column. */
import { Count } from "@catenet/domain/values/Numbers"
import { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"

// An insert that is conditional on room answers no row where there is none.

/** Refuses an insert without a row; `of` is what there are too many of. */
export const insertWithinQuota = (of: string, limit: number) => (rows: ReadonlyArray<unknown>) =>
  rows.length > 0 ? Effect.void : Effect.fail(new LimitReached({ of, limit: Count.make(limit) }))

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
