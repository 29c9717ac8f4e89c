/** The table of agents: the owner of each, whether its key has signed for that account, and in which topology it is. */
import type { AssignedAgent } from "@catenet/domain/topologies/AgentAssignment"
import { AgentKind, type AgentNoiseKey } from "@catenet/domain/topologies/Topology"
import { TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey } from "@catenet/domain/values/Keys"
import { maxAgentsPerTopology } from "@catenet/domain/values/Quotas"
import { Subject } from "@catenet/domain/values/Subject"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Agent = Schema.Struct({
  owner: Subject,
  proved: Schema.Boolean,
  topologyId: Schema.NullOr(TopologyId),
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
      execute: (agent) => sql`select owner, proved, topology_id, kind from topology_agents where agent = ${agent}`
    }),
    /** No row where there is no room; the caller holds the topology. A label stays where topology and owner stay the same. */
    assign: (agent: HolderKey, { kind, owner, proved, topologyId }: AssignedAgent) => sql`
      insert into topology_agents as g (agent, owner, proved, topology_id, kind)
      select ${agent}, ${owner}, ${proved}::boolean, ${topologyId}, ${kind}
      where (select count(*) from topology_agents where topology_id = ${topologyId} and agent <> ${agent})
        < ${maxAgentsPerTopology}
      on conflict (agent) do update
        set owner = excluded.owner, proved = excluded.proved, topology_id = excluded.topology_id, kind = excluded.kind,
          label = case when (g.owner, g.topology_id) = (excluded.owner, excluded.topology_id) then g.label end
      returning 1`,
    /**
     * Stores the key where a link of this topology opens the channel to the agent, and forgets those of channels that no link
     * opens; no row where none does.
     */
    putNoiseKey: (id: string, agent: HolderKey, { channel, noise_attestation, noise_pubkey }: AgentNoiseKey) => sql`
      with closed as (
        delete from topology_noise_keys k where k.agent = ${agent} and k.channel <> ${channel}
          and not exists (select 1 from topology_edges e where e.link = k.channel and k.agent in (e.a, e.b)))
      insert into topology_noise_keys (channel, agent, noise_pubkey, noise_attestation)
      select ${channel}, ${agent}, ${noise_pubkey}, ${noise_attestation}
      where exists (
        select 1 from topology_edges e where e.topology_id = ${id} and e.link = ${channel} and ${agent} in (e.a, e.b))
      on conflict (agent, channel) do update
        set noise_pubkey = excluded.noise_pubkey, noise_attestation = excluded.noise_attestation
      returning 1`,
    release: (agent: HolderKey) =>
      sql`update topology_agents set topology_id = null, kind = null, label = null where agent = ${agent}`,
    label: (agent: HolderKey, label: string) => sql`update topology_agents set label = ${label} where agent = ${agent}`,
    membersOf: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ agent: HolderKey }),
      execute: (id) => sql`select agent from topology_agents where topology_id = ${id} order by agent`
    })
  }
})
