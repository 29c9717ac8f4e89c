/** At which edges a tunnel has agents. A hint: an edge that is named and has none any more costs one more try. */
import { type AgentPresence, EdgeNode } from "@catenet/domain/edges/EdgeNode"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Asked = Schema.Struct({
  token: Schema.NullOr(RoutingToken),
  host: Schema.NullOr(Hostname),
  liveSince: Schema.Int
})

const plain = (tokens: ReadonlyArray<RoutingToken>) => tokens.map((token) => Redacted.value(token))

const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Whether the edge is known. Tokens of no tunnel are left out: an agent may register any. */
  report: ({ absent, edge_id, present, whole }: AgentPresence) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const known = yield* sql`select id from edge_nodes where id = ${edge_id} for share`
        if (known.length === 0) return false
        if (whole) yield* sql`delete from agent_presence where edge_id = ${edge_id}`
        else if (absent.length > 0)
          yield* sql`delete from agent_presence
            where edge_id = ${edge_id} and routing_token = any(${plain(absent)}::text[])`
        if (present.length > 0)
          yield* sql`insert into agent_presence (routing_token, edge_id)
            select distinct t.routing_token, ${edge_id} from tunnels t where t.routing_token = any(${plain(present)}::text[])
            on conflict do nothing`
        return true
      })
    ),
  /** At most two live edges; the own edge of the host first. */
  edgesOf: SqlSchema.findAll({
    Request: Asked,
    Result: EdgeNode,
    execute: ({ host, liveSince, token }) =>
      sql`
      select e.id as edge_id, e.peer_addr from agent_presence p join edge_nodes e on e.id = p.edge_id
      where e.seen_at >= ${liveSince}
        and p.routing_token = coalesce(${token}, (
          select routing_token from hosts where hostname = ${host} or hostname = regexp_replace(${host}, '^[^.]*', '*')
          order by hostname = ${host} desc limit 1))
      order by coalesce((select 0 from hosts h where h.routing_token = p.routing_token and h.edge_id = e.id limit 1), 1), e.seen_at desc, e.id
      limit 2`.withoutTransform
  }),
  /** Of tunnels that are gone. */
  prune: sql`delete from agent_presence p
    where not exists (select 1 from tunnels t where t.routing_token = p.routing_token)`
}))

export class PresenceStore extends Context.Service<PresenceStore>()("server/edges/PresenceStore", { make }) {
  static readonly layer = Layer.effect(PresenceStore, PresenceStore.make)
}
