/** Queries of topologies. Each is one statement, so that its answer is of one moment. */
import { PublicTopology, Topology } from "@catenet/domain/topologies/Topology"
import { NetUuid, TopologyId } from "@catenet/domain/values/Ids"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Listed = Schema.Struct({ id: TopologyId, netUuid: NetUuid, createdAt: Schema.Int })
export type Listed = typeof Listed.Type

/** Lists are in the order of creation. */
export const After = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })
const slice = { after: Schema.UndefinedOr(After), limit: Schema.UndefinedOr(Schema.Int) }

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const agents = sql`coalesce((select jsonb_agg(jsonb_build_array(g.agent, g.kind) order by g.agent)
    from topology_agents g where g.topology_id = t.id), '[]') as agents`
  const edges = (members: string) => sql`coalesce((select jsonb_agg(${sql.literal(members)} order by e.a, e.b)
    from topology_edges e where e.topology_id = t.id), '[]') as edges`
  const labels = sql`coalesce((select jsonb_agg(jsonb_build_object('agent', g.agent, 'label', g.label) order by g.agent)
    from topology_agents g where g.topology_id = t.id and g.label is not null), '[]') as labels`
  const page = ({
    after,
    limit
  }: {
    readonly after: typeof After.Type | undefined
    readonly limit: number | undefined
  }) =>
    sql`${after === undefined ? sql`` : sql`and (t.created_at, t.id) > (${after.createdAt}, ${after.id})`}
      order by t.created_at, t.id ${limit === undefined ? sql`` : sql`limit ${limit}`}`

  return {
    /** For the owner, and for a session whose e-mail address it is shared with. */
    visible: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, email: Schema.NullOr(Schema.String) }),
      Result: Topology,
      execute: ({ email, id, subject }) =>
        sql`
        select t.id, t.net_uuid, t.owner, t.overlay_mode, ${agents}, ${labels},
          ${edges(`jsonb_strip_nulls(jsonb_build_object('a', e.a, 'b', e.b, 'channel', e.note))`)}
        from topologies t where t.id = ${id} and (t.owner = ${subject} or exists (
          select 1 from topology_shares s where s.topology_id = t.id and s.email = ${email}))`.withoutTransform
    }),
    /** For every visitor that knows the public id. Notes are left out: they are for the owner and editors. */
    published: SqlSchema.findOneOption({
      Request: NetUuid,
      Result: PublicTopology,
      execute: (netUuid) =>
        sql`
        select t.net_uuid, t.overlay_mode, ${agents}, ${edges(`jsonb_build_object('a', e.a, 'b', e.b)`)}
        from topologies t where t.net_uuid = ${netUuid}`.withoutTransform
    }),
    owned: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, ...slice }),
      Result: Listed,
      execute: ({ subject, ...rest }) => sql`
        select t.id, t.net_uuid, t.created_at from topologies t where t.owner = ${subject} ${page(rest)}`
    }),
    shared: SqlSchema.findAll({
      Request: Schema.Struct({ email: Schema.String, ...slice }),
      Result: Listed,
      execute: ({ email, ...rest }) => sql`
        select t.id, t.net_uuid, t.created_at from topology_shares s join topologies t on t.id = s.topology_id
        where s.email = ${email} ${page(rest)}`
    })
  }
})
