/** The table of agents: whose each is, and in which topology. */
import { mostAgentsOfTopology } from "@catenet/domain/Caps"
import type { HolderKey } from "@catenet/domain/Keys"
import { AgentKind } from "@catenet/domain/Topology"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Agent = Schema.Struct({
  owner: Schema.String,
  topologyId: Schema.NullOr(Schema.String),
  kind: Schema.NullOr(AgentKind)
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Commands about one agent come one after the other, the first one for it included. */
    lock: (agent: HolderKey) => sql`select pg_advisory_xact_lock(hashtextextended(${agent}, 3))`,
    find: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Agent,
      execute: (agent) => sql`select owner, topology_id, kind from topology_agents where agent = ${agent}`
    }),
    /** No row where there is no room; the caller holds the topology, in which the agent is not. */
    assign: (agent: HolderKey, owner: string, topologyId: string, kind: AgentKind) => sql`
      insert into topology_agents (agent, owner, topology_id, kind) select ${agent}, ${owner}, ${topologyId}, ${kind}
      where (select count(*) from topology_agents where topology_id = ${topologyId}) < ${mostAgentsOfTopology}
      on conflict (agent) do update set topology_id = excluded.topology_id, kind = excluded.kind returning 1`,
    release: (agent: HolderKey) =>
      sql`update topology_agents set topology_id = null, kind = null, label = null where agent = ${agent}`,
    label: (agent: HolderKey, label: string) => sql`update topology_agents set label = ${label} where agent = ${agent}`,
    membersOf: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ agent: Schema.String }),
      execute: (id) => sql`select agent from topology_agents where topology_id = ${id} order by agent`
    })
  }
})
