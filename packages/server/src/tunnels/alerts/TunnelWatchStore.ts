/** What the rounds over all tunnels left behind. Only a change is written. */
import { TunnelId } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Watched = Schema.Struct({
  id: TunnelId,
  routingToken: RoutingToken,
  /** Null: it was never reached. */
  isUp: Schema.NullOr(Schema.Boolean)
})
export type Watched = typeof Watched.Type

const Change = Schema.Struct({ ids: Schema.Array(Schema.String), now: Schema.Int })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Gives the round that is due to the one who asks first. */
    takeRound: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, next: Schema.Int }),
      Result: Schema.Struct({ dueAt: Schema.Int }),
      execute: ({ next, now }) =>
        sql`update tunnel_watch_round set due_at = ${next} where due_at <= ${now} returning due_at`
    }),
    page: SqlSchema.findAll({
      Request: Schema.Struct({ after: Schema.String, limit: Schema.Int }),
      Result: Watched,
      execute: ({ after, limit }) => sql`
        select t.id, t.routing_token, (select w.is_up from tunnel_watches w where w.tunnel_id = t.id)
        from tunnels t where t.id > ${after} order by t.id limit ${limit}`
    }),
    /** A tunnel that is deleted meanwhile is left out. */
    up: SqlSchema.void({
      Request: Change,
      execute: ({ ids, now }) => sql`
        insert into tunnel_watches (tunnel_id, is_up, since)
        select id, true, ${now} from tunnels where id = any(${ids}::text[]) order by id for key share
        on conflict (tunnel_id) do update set is_up = true, since = excluded.since where not tunnel_watches.is_up`
    }),
    down: SqlSchema.void({
      Request: Change,
      execute: ({ ids, now }) => sql`
        update tunnel_watches set is_up = false, since = ${now} where is_up and tunnel_id = any(${ids}::text[])`
    })
  }
})
