/** Edge servers, and what an edge has to know about tunnels when it boots. */
import { Authorisation, EdgeNode, ReportedEdge } from "@catenet/domain/edges/EdgeNode"
import { type OfferedPorts } from "@catenet/domain/edges/PublicPort"
import { allOff, tunnelOptionNames, TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import { Hostname } from "@catenet/domain/values/Hostname"
import { PublicKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { accountName, knownKeys, proofOf } from "./AgentKeyStore.ts"

const Report = Schema.Struct({
  id: Schema.String,
  peerAddr: Schema.String,
  pubkey: Schema.NullOr(Schema.String),
  seenAt: Schema.Int
})

const Slice = Schema.Struct({
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int),
  liveSince: Schema.Int
})

/** The public port of tunnel `t`. */
export const portOf = (sql: SqlClient.SqlClient) => sql`(
  select jsonb_build_object('protocol', p.protocol, 'port', p.port) from public_ports p where p.tunnel_id = t.id)`

/** Where in the list of what an edge knows something is: hostnames first, then tunnels that have none, by their ids. */
export const Place = Schema.Struct({ bare: Schema.Boolean, place: Schema.String })

const Restored = Schema.Struct({
  after: Schema.UndefinedOr(Place),
  limit: Schema.UndefinedOr(Schema.Int)
})

/**
 * What is known of a tunnel as it is answered, the token in plain. There may be many thousands, and each `Redacted` is
 * an entry of one weak map: the collector is slow with those, and everything waits while the map is hashed anew.
 */
const Known = Schema.toEncoded(
  Schema.Struct({ ...Place.fields, ...Struct.omit(Authorisation.fields, tunnelOptionNames), options: TunnelOptions })
)

const Revoked = Schema.toEncoded(Schema.Struct({ id: Schema.Int, token: RoutingToken }))

/** Seconds for which a revocation is kept (docs/decisions/0014). */
export const revokedSeconds = 90 * 86_400

const Owner = Schema.Struct({
  token: Schema.NullOr(RoutingToken),
  host: Schema.NullOr(Hostname),
  liveSince: Schema.Int
})

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const ofTunnel = sql`${knownKeys(sql)} as agent_keys, ${proofOf(sql)} as agent_proof, t.records_name,
    ${accountName(sql)} as owner_account, ${portOf(sql)} as port`
  // Conditions are written as scalar look-ups with `coalesce` or `is null`: `exists` becomes a hash of all rows there are.
  const isServed = (token: Statement.Fragment) => sql`
    coalesce((select 1 from revoked_tokens r where r.routing_token = ${token}), 0) <> 1`
  const withHost = SqlSchema.findAll({
    Request: Restored,
    Result: Known,
    execute: ({ after, limit = null }) =>
      sql`
      select false as bare, h.hostname as place, h.routing_token as token, h.hostname,
          case when h.status = 'gelb' then 'gelb' else 'passthrough' end as tier, t.access_policy as policy,
          case when h.claim = 'offered' then h.deadline end as admission_until,
          coalesce(t.options, '{}') as options, coalesce(t.rules, '[]') as rules,
          coalesce(t.require_login, false) as require_login, ${ofTunnel}
        from hosts h left join lateral (
          select id, subject, access_policy, options, rules, require_login, agent_proved_at, allow_unproved_agents, records_name
          from tunnels where routing_token = h.routing_token limit 1) t on true
        where h.hostname > ${after?.place ?? ""} and ${isServed(sql`h.routing_token`)}
        order by h.hostname limit ${limit}`.withoutTransform
  })
  const withoutHost = SqlSchema.findAll({
    Request: Restored,
    Result: Known,
    execute: ({ after, limit = null }) =>
      sql`
      select true as bare, t.id as place, t.routing_token as token, null as hostname, 'passthrough' as tier,
          t.access_policy as policy, null::bigint as admission_until, t.options, t.rules, t.require_login, ${ofTunnel}
        from tunnels t
        where t.hostname is null and t.id > ${after?.place ?? ""}
          and (select 1 from hosts h where h.routing_token = t.routing_token limit 1) is null
          and ${isServed(sql`t.routing_token`)}
        order by t.id limit ${limit}`.withoutTransform
  })

  /** The second list is read once the first has come to its end. */
  const knownTo = Effect.fnUntraced(function* ({ after, limit }: typeof Restored.Type) {
    if (after?.bare === true) return yield* withoutHost({ after, limit })
    const named = yield* withHost({ after, limit })
    const left = limit === undefined ? undefined : limit - named.length
    if (left === 0) return named
    return [...named, ...(yield* withoutHost({ after: undefined, limit: left }))]
  })

  return {
    /** Nothing, when the edge is pinned to another key. The first key that is presented stays. */
    report: SqlSchema.findOneOption({
      Request: Report,
      Result: Schema.Struct({ id: Schema.String }),
      execute: (row) => sql`
        insert into edge_nodes ${sql.insert(row)}
        on conflict (id) do update set peer_addr = excluded.peer_addr, seen_at = excluded.seen_at,
          pubkey = coalesce(edge_nodes.pubkey, excluded.pubkey)
        where edge_nodes.pubkey is null or edge_nodes.pubkey = excluded.pubkey
        returning id`
    }),
    /** The ports that an edge offers from now on. */
    offer: (id: string, ports: OfferedPorts | undefined) => {
      const offered = ports === undefined ? sql`null::jsonb` : sql`${PgTypes.jsonb(ports)}`
      return sql`update edge_nodes set ports = ${offered} where id = ${id} and ports is distinct from ${offered}`
    },
    /** By id. */
    list: SqlSchema.findAll({
      Request: Slice,
      Result: ReportedEdge,
      execute: ({ after, limit, liveSince }) =>
        sql`select id as edge_id, peer_addr, pubkey, seen_at, seen_at >= ${liveSince} as live from edge_nodes
        ${after === undefined ? sql`` : sql`where id > ${after}`} order by id ${limit === undefined ? sql`` : sql`limit ${limit}`}`
          .withoutTransform
    }),
    /** The key that an edge is pinned to. */
    pinnedKey: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ pubkey: Schema.NullOr(PublicKey) }),
      execute: (id) => sql`select pubkey from edge_nodes where id = ${id}`
    }),
    unpin: (id: string) => sql`update edge_nodes set pubkey = null where id = ${id} returning id`,
    ownerOf: SqlSchema.findOneOption({
      Request: Owner,
      Result: EdgeNode,
      execute: ({ host, liveSince, token }) =>
        sql`
        select e.id as edge_id, e.peer_addr as peer_addr from hosts h join edge_nodes e on e.id = h.edge_id
        where e.seen_at >= ${liveSince} and (h.routing_token = ${token} or h.hostname = ${host}
          or h.hostname = regexp_replace(${host}, '^[^.]*', '*'))
        order by h.hostname = ${host} desc, h.hostname limit 1`.withoutTransform
    }),
    /** The token of the tunnel that has a public port. */
    tokenAt: SqlSchema.findOneOption({
      Request: Schema.Struct({ protocol: Schema.String, port: Schema.Int }),
      Result: Schema.Struct({ token: RoutingToken }),
      execute: ({ port, protocol }) => sql`select t.routing_token as token from public_ports p
        join tunnels t on t.id = p.tunnel_id where p.protocol = ${protocol} and p.port = ${port}`
    }),
    /** Of these edges one that has reported where other edges reach it. */
    oneOf: SqlSchema.findOneOption({
      Request: Schema.Struct({ ids: Schema.Array(Schema.String), liveSince: Schema.Int }),
      Result: EdgeNode,
      execute: ({ ids, liveSince }) =>
        sql`select id as edge_id, peer_addr from edge_nodes
        where id = any(${ids}::text[]) and seen_at >= ${liveSince} order by id limit 1`.withoutTransform
    }),
    /**
     * Every hostname, and every tunnel that has none: an order reaches every edge, and so does what is restored. What belongs to each is asked in a way that has to be
     * looked up by its key: joined, all tunnels and revocations there are would be read for one edge.
     */
    knownTo: (page: typeof Restored.Type) =>
      Effect.map(knownTo(page), (rows) => rows.map(({ options, ...row }) => ({ ...row, ...allOff, ...options }))),
    revoked: SqlSchema.findAll({
      Request: Schema.Struct({ after: Schema.UndefinedOr(Schema.Int), limit: Schema.UndefinedOr(Schema.Int) }),
      Result: Revoked,
      execute: ({ after, limit = null }) => sql`
        select id, routing_token as token from revoked_tokens where id > ${after ?? 0} order by id limit ${limit}`
    }),
    /** Revocations that are old, and behind which nothing is left: no tunnel, no hostname, no order to an edge. */
    pruneRevoked: (now: number) => sql`
      delete from revoked_tokens r where revoked_at <= ${now - revokedSeconds}
        and not exists (select 1 from tunnels t where t.routing_token = r.routing_token)
        and not exists (select 1 from hosts h where h.routing_token = r.routing_token)
        and not exists (select 1 from outbox o where o.queue = r.routing_token and o.refused_at is null)
        and not exists (select 1 from outbox o where o.queue = r.routing_token and o.refused_at is not null)`
  }
})

export class EdgeStore extends Context.Service<EdgeStore>()("server/edges/EdgeStore", { make }) {
  static readonly layer = Layer.effect(EdgeStore, EdgeStore.make)
}
