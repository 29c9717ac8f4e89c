/**
 * The edges that take orders and are asked for facts, each with the address of its admin interface. A row counts until it
 * expires; what writes orders holds the set of rows still for the length of its transaction.
 */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** Advisory lock of the set of edges: "edge" in ASCII. Orders are written under it together, changes alone. */
const lock = 0x65646765

/** Seconds for which an edge from the settings of a replica counts after that replica was last there. */
export const configuredSeconds = 86_400

/** Seconds that a replica has for naming the edge of its settings, before that edge's first orders are dropped. */
const graceSeconds = 600

export const EdgeAddress = Schema.Struct({ id: Schema.String, url: Schema.String })
export type EdgeAddress = typeof EdgeAddress.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    live: SqlSchema.findAll({
      Request: Schema.Int,
      Result: EdgeAddress,
      execute: (now) => sql`
        select edge_id as id, admin_url as url from edge_addresses where expires_at > ${now} order by edge_id`
    }),
    /** To the end of the transaction no edge comes to the set; two writers of orders do not wait for each other. */
    hold: sql`select pg_advisory_xact_lock_shared(${lock})`,
    /** Names the edge of this replica's settings, and gives it the orders that were written before orders named edges. */
    configure: (edge: EdgeAddress, now: number) =>
      sql.withTransaction(
        Effect.all([
          sql`insert into edge_addresses (edge_id, admin_url, expires_at)
            values (${edge.id}, ${edge.url}, ${now + configuredSeconds})
            on conflict (edge_id) do update set admin_url = excluded.admin_url,
              expires_at = greatest(edge_addresses.expires_at, excluded.expires_at)`,
          sql`update outbox set edge = ${edge.id} where edge = ''`
        ])
      ),
    /** Orders of edges that count no longer: such an edge restores everything when it is back. */
    prune: (now: number) =>
      sql.withTransaction(
        Effect.all([
          sql`select pg_advisory_xact_lock(${lock})`,
          sql`delete from outbox where edge <> '' and created_at <= ${now - graceSeconds}
            and not exists (select 1 from edge_addresses e where e.edge_id = outbox.edge and e.expires_at > ${now})`,
          sql`delete from edge_addresses where expires_at <= ${now - configuredSeconds}`
        ])
      )
  }
})
