/** What an edge is to serve, as it is compared with what it serves; and which edges are compared. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Wanted = Schema.Struct({
  hostname: Hostname,
  token: RoutingToken,
  tier: Schema.Literals(["gelb", "passthrough"]),
  admissionUntil: Schema.NullOr(Schema.Int)
})
export type Wanted = typeof Wanted.Type

const Due = Schema.Struct({ id: Schema.String, isDue: Schema.Boolean })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql`hostname, routing_token as token, case when status = 'gelb' then 'gelb' else 'passthrough' end as tier,
    case when claim = 'offered' then deadline end as admission_until`
  const isServed = sql`not exists (select 1 from revoked_tokens r where r.routing_token = hosts.routing_token)`

  return {
    transaction: sql.withTransaction,
    /**
     * Edges of no epoch that have not been compared for so long, which one replica takes, and those that were away or have not
     * taken an order.
     */
    takeDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, interval: Schema.Int, away: Schema.Array(Schema.String) }),
      Result: Due,
      execute: ({ away, interval, now }) => sql`
        with due as (
          update edge_addresses set compared_at = ${now}
          where epoch is null and expires_at > ${now} and compared_at <= ${now - interval} returning edge_id)
        select edge_id as id, true as is_due from due
        union all select edge_id, false from edge_addresses e
          where epoch is null and expires_at > ${now} and compared_at > ${now - interval}
            and (edge_id = any(${away}::text[]) or edge_id in (
              select edge from (
                select edge from outbox where refused_at is null and due_at > ${now} order by due_at, id limit 100) put_off))`
    }),
    /** By their names, a page. */
    wanted: SqlSchema.findAll({
      Request: Schema.Struct({ after: Schema.String, limit: Schema.Int }),
      Result: Wanted,
      execute: ({ after, limit }) => sql`
        select ${columns} from hosts where hostname > ${after} and ${isServed} order by hostname limit ${limit}`
    }),
    /** Those of the same names that still lead to these tokens. */
    wantedNow: SqlSchema.findAll({
      Request: Schema.Struct({ hostnames: Schema.Array(Schema.String), tokens: Schema.Array(RoutingToken) }),
      Result: Wanted,
      execute: ({ hostnames, tokens }) => sql`
        select ${columns} from hosts
        where hostname = any(${hostnames}::text[]) and routing_token = any(${tokens}::text[]) and ${isServed}
        order by hostname`
    }),
    /** Those of the tokens that were ended. */
    ended: SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: Schema.Struct({ token: RoutingToken }),
      execute: (tokens) => sql`
        select distinct routing_token as token from revoked_tokens where routing_token = any(${tokens}::text[])`
    }),
    /** What was put off while the edge was away is due. */
    hasten: (edge: string, now: number) => sql`
      with due as (
        update outbox set due_at = ${now} where edge = ${edge} and due_at > ${now} and refused_at is null returning 1)
      select pg_notify('outbox', '') from (select 1 from due limit 1) any_due`
  }
})
