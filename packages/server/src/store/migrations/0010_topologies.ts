/**
 * Topologies. An agent stays its owner's when it leaves one. `link` of an edge is the channel that the bound operator's
 * key makes of it: present exactly while a key is bound, and what admission looks for.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table topologies (
    id text primary key check (id ~ '^[0-9a-f]{32}$'),
    net_uuid text not null constraint topologies_net_uuid_unique unique check (net_uuid ~ '^[0-9a-f]{32}$'),
    owner text not null check (owner <> ''),
    overlay_mode text not null default 'baseline'
      check (overlay_mode in ('baseline', 'smart-route', 'shortcut', 'random-mesh')),
    operator_pubkey text check (operator_pubkey ~ '^[0-9a-f]{64}$'),
    operator_proof text check (operator_proof ~ '^[0-9a-f]{128}$'),
    created_at bigint not null,
    constraint topologies_binding_is_whole check ((operator_pubkey is null) = (operator_proof is null))
  )`,
  `create index topologies_owner on topologies (owner, created_at, id)`,
  `create table topology_shares (
    topology_id text not null references topologies (id) on delete cascade,
    email text not null check (email = lower(email)),
    primary key (topology_id, email)
  )`,
  `create index topology_shares_email on topology_shares (email, topology_id)`,
  `create table topology_agents (
    agent text primary key check (agent ~ '^[0-9a-f]{64}$'),
    owner text not null check (owner <> ''),
    topology_id text references topologies (id),
    kind text check (kind in ('peer', 'super-peer')),
    label text,
    constraint topology_agents_assignment_is_whole check ((topology_id is null) = (kind is null)),
    constraint topology_agents_label_only_in_a_topology check (label is null or topology_id is not null)
  )`,
  `create index topology_agents_topology on topology_agents (topology_id, agent)`,
  `create index topology_agents_owner on topology_agents (owner)`,
  `create table topology_edges (
    topology_id text not null references topologies (id) on delete cascade,
    a text not null check (a ~ '^[0-9a-f]{64}$'),
    b text not null check (b ~ '^[0-9a-f]{64}$'),
    note text check (note ~ '^[0-9a-f]{64}$'),
    link text check (link ~ '^[0-9a-f]{64}$'),
    primary key (topology_id, a, b),
    constraint topology_edges_ends_in_order check (a collate "C" < b collate "C")
  )`,
  `create index topology_edges_b on topology_edges (topology_id, b)`,
  `create index topology_edges_link on topology_edges (link) where link is not null`
)
