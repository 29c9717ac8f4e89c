/** The tables of topologies: what a command reads of one while it holds its lock, and what it writes. */
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId } from "@catenet/domain/channels/Channel"
import type { AssignedAgent } from "@catenet/domain/topologies/AgentAssignment"
import type { Link } from "@catenet/domain/topologies/OperatorBinding"
import { AgentKind, type AgentNoiseKey, OverlayMode } from "@catenet/domain/topologies/Topology"
import { created, type TopologyState } from "@catenet/domain/topologies/TopologyMachine"
import { Email } from "@catenet/domain/values/Email"
import { NetUuid, Subject, TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey, OperatorKey, Signature } from "@catenet/domain/values/Keys"
import { maxAgentsPerTopology, maxEdgesPerTopology, maxSharesPerTopology } from "@catenet/domain/values/Quotas"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"

/** The table of agents: the owner of each, whether its key has signed for that account, and in which topology it is. */
const Agent = Schema.Struct({
  owner: Subject,
  proved: Schema.Boolean,
  topologyId: Schema.NullOr(TopologyId),
  kind: Schema.NullOr(AgentKind)
})

const makeTopologyAgentStore = Effect.gen(function* () {
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

export class TopologyAgentStore extends Context.Service<TopologyAgentStore>()(
  "server/topologies/TopologyStore/TopologyAgentStore",
  { make: makeTopologyAgentStore }
) {
  static readonly layer = Layer.effect(TopologyAgentStore, TopologyAgentStore.make)
}

// One topology while no other command changes it, with no more of it than the command is about. An id that no topology has is
// read as a topology without an owner, so that it gets the same answer as a topology of another account.

/** Beside the head: these edges, and whether the topology is shared with this address too. */
export interface Extent {
  readonly edges?: Edges
  readonly email?: Email
}

const unknown = created(null)

export const makeLockedTopology = Effect.gen(function* () {
  const store = yield* TopologyStore

  /** Reads without a lock. */
  const read = Effect.fnUntraced(function* (
    id: TopologyId,
    { email }: Caller["Service"],
    { edges = "none", email: other }: Extent = {}
  ) {
    const emails = [email, other].filter((address) => address !== undefined && address !== null)
    const head = Option.getOrUndefined(yield* store.head({ id, emails }))
    if (head === undefined) return unknown
    return { ...head, edges: yield* store.edges(id, edges) } satisfies TopologyState
  })

  return {
    read,
    /** Reads what stays as it is until the transaction ends. */
    hold: (id: TopologyId, caller: Caller["Service"], extent?: Extent) =>
      Effect.andThen(store.lock(id), read(id, caller, extent))
  }
})

const Fresh = Schema.Struct({ id: TopologyId, netUuid: NetUuid, owner: Subject, createdAt: Schema.Int })

const Head = Schema.Struct({
  owner: Subject,
  overlayMode: OverlayMode,
  operatorPubkey: Schema.NullOr(OperatorKey),
  operatorProof: Schema.NullOr(Signature),
  /** Those of the asked addresses that the topology is shared with. */
  shares: Schema.Array(Email)
})
const Edge = Schema.Struct({ a: HolderKey, b: HolderKey, channel: Schema.NullOr(ChannelId) })

/** Which edges a command needs: none, one, or all. */
export type Edges = Link | "none" | "all"

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const isOne = (id: string, { a, b }: Link) => sql`topology_id = ${id} and a = ${a} and b = ${b}`

  const edges = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.String, which: Schema.Any }),
    Result: Edge,
    execute: ({ id, which }: { readonly id: string; readonly which: Link | "all" }) => sql`
      select a, b, note as channel from topology_edges where ${
        which === "all" ? sql`topology_id = ${id}` : isOne(id, which)
      } order by a, b`
  })

  const deleteEdges = SqlSchema.findAll({
    Request: Schema.Any,
    Result: Schema.Struct({ link: Schema.NullOr(ChannelId) }),
    execute: (which: Fragment) => sql`delete from topology_edges where ${which} returning link`
  })

  /** Removes edges, and names the channels that they have opened. */
  const removed = (which: Fragment) =>
    Effect.map(deleteEdges(which), (rows) => rows.map(({ link }) => link).filter((link) => link !== null))

  /** Under both ids: an editor follows the one, the public page the other. */
  const announced = (which: Fragment) => sql`
    select pg_notify('topologies', t.id), pg_notify('topologies', t.net_uuid) from topologies t where ${which}`

  return {
    /** No row where the account has `most` already; those of one account and its service accounts are inserted one after the other. */
    insertWithin: ({ createdAt, id, netUuid, owner }: typeof Fresh.Type, most: number) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${owner}), 21))`,
        sql`insert into topologies (id, net_uuid, owner, created_at)
          select ${id}, ${netUuid}, ${owner}, ${createdAt}::bigint
          where (select count(*) from topologies where owner = any(quota_subjects(${owner}))) < ${most} returning id`
      ),
    /** Commands on one topology come one after the other. */
    lock: (id: string) => sql`select 1 from topologies where id = ${id} for update`,
    /** Has every replica's open pages read the topology again, once the transaction commits. */
    announce: (id: string) => announced(sql`t.id = ${id}`),
    /** Locks several topologies, always in the same order. */
    lockAll: (ids: ReadonlyArray<string>) =>
      sql`select 1 from topologies where id = any(${ids}::text[]) order by id for update`,
    head: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, emails: Schema.Array(Schema.String) }),
      Result: Head,
      execute: ({ emails, id }) => sql`
        select t.owner, t.overlay_mode, t.operator_pubkey, t.operator_proof, array(
          select s.email from topology_shares s where s.topology_id = t.id and s.email = any(${emails}::text[])) as shares
        from topologies t where t.id = ${id}`
    }),
    edges: (id: string, which: Edges) => (which === "none" ? Effect.succeed([]) : edges({ id, which })),
    /** No row where there is no room; the caller holds the topology. */
    addEdge: (id: string, { a, b }: Link) => sql`
      insert into topology_edges (topology_id, a, b) select ${id}, ${a}, ${b}
      where (select count(*) from topology_edges where topology_id = ${id}) < ${maxEdgesPerTopology} returning 1`,
    removeEdge: (id: string, link: Link) => sql`delete from topology_edges where ${isOne(id, link)}`,
    removeEdgesAt: (id: string, agent: HolderKey) =>
      removed(sql`topology_id = ${id} and (a = ${agent} or b = ${agent})`),
    note: (id: string, link: Link, channel: ChannelId | null) =>
      sql`update topology_edges set note = ${channel} where ${isOne(id, link)}`,
    /** Stores the channels that edges open; null closes them. */
    setLinks: (id: string, links: ReadonlyArray<Link & { readonly link: string | null }>) => sql`
      update topology_edges e set link = c.link
      from jsonb_to_recordset(${PgTypes.jsonb(links)}) as c(a text, b text, link text)
      where e.topology_id = ${id} and e.a = c.a and e.b = c.b`,
    setMode: (id: string, mode: OverlayMode) => sql`update topologies set overlay_mode = ${mode} where id = ${id}`,
    setName: (id: string, name: string | null) => sql`update topologies set name = ${name} where id = ${id}`,
    bind: (id: string, operator: OperatorKey | null, proof: Signature | null) =>
      sql`update topologies set operator_pubkey = ${operator}, operator_proof = ${proof} where id = ${id}`,
    /** No row where there is no room; the caller holds the topology, which has no such share. */
    share: (id: string, email: Email) => sql`
      insert into topology_shares (topology_id, email) select ${id}, ${email}
      where (select count(*) from topology_shares where topology_id = ${id}) < ${maxSharesPerTopology} returning 1`,
    unshare: (id: string, email: Email) =>
      sql`delete from topology_shares where topology_id = ${id} and email = ${email}`,
    shares: SqlSchema.findAll({
      Request: Schema.Struct({
        id: Schema.String,
        after: Schema.UndefinedOr(Schema.String),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Schema.Struct({ email: Email }),
      execute: ({ after, id, limit }) => sql`
        select email from topology_shares
        where topology_id = ${id} ${after === undefined ? sql`` : sql`and email > ${after}`}
        order by email ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    /** Removes a topology with its edges and shares; its agents leave it. */
    remove: Effect.fnUntraced(function* (id: string) {
      const closed = yield* removed(sql`topology_id = ${id}`)
      yield* sql`update topology_agents set topology_id = null, kind = null, label = null where topology_id = ${id}`
      yield* sql`delete from topologies where id = ${id}`
      return closed
    }),
    /** Removes all of an account: its topologies, its agents wherever they are, and what is shared with its address. */
    removeAllOf: Effect.fnUntraced(function* (subject: string, email: string | null) {
      yield* sql`select 1 from topologies where owner = ${subject}
        or id in (select topology_id from topology_agents where owner = ${subject}) order by id for update`
      yield* announced(sql`t.owner = ${subject}
        or t.id in (select topology_id from topology_agents where owner = ${subject})
        or t.id in (select topology_id from topology_shares where email = ${email})`)
      const closed = yield* removed(sql`topology_id in (select id from topologies where owner = ${subject})
        or exists (select 1 from topology_agents g
          where g.owner = ${subject} and topology_edges.topology_id = g.topology_id
            and g.agent in (topology_edges.a, topology_edges.b))`)
      yield* sql`delete from topology_agents where owner = ${subject}`
      yield* sql`update topology_agents set topology_id = null, kind = null, label = null
        where topology_id in (select id from topologies where owner = ${subject})`
      yield* sql`delete from topologies where owner = ${subject}`
      yield* sql`delete from topology_shares where email = ${email}`
      return closed
    }),
    transaction: sql.withTransaction
  }
})

export class TopologyStore extends Context.Service<TopologyStore>()("server/topologies/TopologyStore", { make }) {
  static readonly layer = Layer.effect(TopologyStore, TopologyStore.make)
}
