/** The public registries: pipelines, whose ids order by bytes, agents, and the records of an operator's self-test. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table pipelines (
    id text collate "C" primary key check (id ~ '^[A-Za-z0-9._-]{1,128}$'),
    owner text not null check (owner <> ''),
    spec text not null,
    published_at bigint not null
  )`,
  `create index pipelines_owner on pipelines (owner, id)`,
  `create table directory_agents (
    holder_pubkey text primary key check (holder_pubkey ~ '^[0-9a-f]{64}$'),
    card_url text not null check (card_url like 'https://%'),
    role_tags text[] not null,
    skill_ids text[] not null,
    registered_at bigint not null
  )`,
  `create index directory_agents_roles on directory_agents using gin (role_tags)`,
  `create index directory_agents_skills on directory_agents using gin (skill_ids)`,
  `create table rendezvous (
    token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
    tenant text not null,
    agent text not null
  )`
)
