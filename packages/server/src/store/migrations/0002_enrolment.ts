/** Join tokens (hashed), the agents that redeemed one, and one-time bootstrap secrets (sealed by their own token). */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table join_tokens (
    token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
    tenant text not null,
    created_at bigint not null,
    redeemed_at bigint,
    redeemed_by text,
    constraint join_tokens_redemption_is_whole check ((redeemed_at is null) = (redeemed_by is null))
  )`,
  `create index join_tokens_tenant on join_tokens (tenant)`,
  `create table join_batches (
    idempotency_key text primary key,
    tenant text not null,
    count integer not null
  )`,
  `create table agents (
    tenant text not null,
    agent text not null,
    pubkey text not null check (pubkey ~ '^[0-9a-f]{64}$'),
    bound_at bigint not null,
    primary key (tenant, agent)
  )`,
  `create table bootstrap_tokens (
    token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
    sealed bytea,
    created_at bigint not null,
    expires_at bigint not null,
    redeemed_at bigint,
    constraint bootstrap_tokens_spent_is_empty check ((redeemed_at is null) = (sealed is not null))
  )`,
  `create index bootstrap_tokens_expiry on bootstrap_tokens (expires_at)`
)
