/**
 * The edges that take orders and are asked for facts, each with the address of its admin interface. A row counts until it
 * expires; what writes orders holds the set of rows still for the length of its transaction.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** Advisory lock of the set of edges: "edge" in ASCII. Orders are written under it together, changes alone. */
const lock = 0x65646765

/** Seconds for which an edge counts as live after a heartbeat. */
export const liveSeconds = 120

/** Seconds for which an edge from the settings of a replica counts after that replica was last there. */
const configuredSeconds = 86_400

/** Seconds that a replica has for naming the edge of its settings, before that edge's first orders are dropped. */
const graceSeconds = 600

export const EdgeAddress = Schema.Struct({ id: Schema.String, url: Schema.String })
export type EdgeAddress = typeof EdgeAddress.Type

const Alive = Schema.Struct({
  id: Schema.String,
  /** Null for an edge that does not say where it takes orders. */
  url: Schema.NullOr(Schema.String),
  /** The epoch that the edge says it is in; null at its start. */
  rebuilt: Schema.NullOr(Schema.String),
  now: Schema.Int
})

const Epoch = Schema.Struct({ epoch: Schema.String })

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  /** The edge goes on in its epoch: no order was left out since it restored everything. */
  const prolong = SqlSchema.findOneOption({
    Request: Alive,
    Result: Epoch,
    execute: ({ id, now, rebuilt, url }) => sql`
      update edge_addresses set admin_url = coalesce(${url}, admin_url),
        expires_at = greatest(expires_at, ${now + liveSeconds})
      where edge_id = ${id} and expires_at > ${now} and epoch = ${rebuilt} returning epoch`
  })

  /** A new epoch; one that never said where it is has none. */
  const renew = SqlSchema.findOneOption({
    Request: Alive,
    Result: Epoch,
    execute: ({ id, now, url }) => sql`
      with known as (
        update edge_addresses set admin_url = coalesce(${url}, admin_url), epoch = gen_random_uuid()::text,
          expires_at = greatest(expires_at, ${now + liveSeconds})
        where edge_id = ${id} returning epoch),
      added as (
        insert into edge_addresses (edge_id, admin_url, epoch, expires_at)
        select ${id}, ${url}::text, gen_random_uuid()::text, ${now + liveSeconds}
        where ${url}::text is not null and not exists (select 1 from known) returning epoch)
      select epoch from known union all select epoch from added`
  })

  return {
    /**
     * An edge lives. Where it is in no epoch, or in an older one, it enters a new one, restores everything and needs none
     * of its orders from before: every transaction that wrote orders without a row for this edge has ended by then, and
     * every later one sees the edge. An edge that goes on gets at once what was put off while it was away.
     */
    alive: Effect.fnUntraced(function* (edge: typeof Alive.Type) {
      const same = yield* prolong(edge)
      if (Option.isSome(same)) {
        const due = yield* sql`
          update outbox set due_at = ${edge.now} where edge = ${edge.id} and due_at > ${edge.now} and refused_at is null
          returning 1`
        if (due.length > 0) yield* sql`select pg_notify('outbox', '')`
        return same
      }
      return yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select pg_advisory_xact_lock(${lock})`
          const fresh = yield* renew(edge)
          if (Option.isSome(fresh)) yield* sql`delete from outbox where edge = ${edge.id}`
          return fresh
        })
      )
    }),
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
          sql`insert into edge_addresses (edge_id, admin_url, expires_at, compared_at)
            values (${edge.id}, ${edge.url}, ${now + configuredSeconds}, ${now})
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

export class EdgeAddressStore extends Context.Service<EdgeAddressStore>()("server/edges/EdgeAddressStore", { make }) {
  static readonly layer = Layer.effect(EdgeAddressStore, EdgeAddressStore.make)
}
