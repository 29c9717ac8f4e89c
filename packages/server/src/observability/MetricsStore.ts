/** What the database says about the work that is left, in one statement. */
import { Count } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Work = Schema.Struct({
  pending: Count,
  refused: Count,
  oldestAt: Schema.NullOr(Schema.Int),
  edgesLive: Count,
  queued: Count,
  offered: Count,
  lapsed: Count,
  gruen: Count
})
export type Work = typeof Work.Type

export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  work: SqlSchema.findOne({
    Request: Schema.Struct({ liveSince: Schema.Int }),
    Result: Work,
    execute: ({ liveSince }) => sql`
      select o.*, h.*, (select count(*) from edge_nodes where seen_at >= ${liveSince}) as edges_live
      from (select count(*) filter (where refused_at is null) as pending, count(refused_at) as refused,
          min(created_at) filter (where refused_at is null) as oldest_at from outbox) o,
        (select count(*) filter (where claim = 'queued') as queued, count(*) filter (where claim = 'offered') as offered,
          count(*) filter (where claim = 'lapsed') as lapsed, count(*) filter (where status = 'gruen') as gruen
          from hosts) h`
  })
}))
