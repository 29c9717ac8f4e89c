/**
 * Tunnels and the hostnames that lead to them. A row of `hosts` is the recorded ownership of a hostname by a routing
 * token, together with where the hostname stands on its way to a certificate of its own.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table tunnels (
    id text primary key check (id ~ '^[0-9a-f]{32}$'),
    subject text not null check (subject <> ''),
    name text not null check (name <> ''),
    hostname text constraint tunnels_hostname_unique unique check (hostname = lower(hostname)),
    routing_token text not null constraint tunnels_routing_token_unique unique check (routing_token ~ '^[0-9a-f]{64}$'),
    created_at bigint not null,
    require_login boolean not null default false,
    allow_any_login boolean not null default false,
    access_policy jsonb
  )`,
  `create index tunnels_subject on tunnels (subject, created_at, id)`,
  `create table hosts (
    hostname text primary key check (hostname = lower(hostname)),
    routing_token text not null check (routing_token ~ '^[0-9a-f]{64}$'),
    edge_id text not null,
    authorized_at bigint not null,
    status text not null check (status in ('rot', 'gelb', 'gruen')),
    claim text check (claim in ('queued', 'offered', 'lapsed')),
    ca text,
    queued_at bigint,
    deadline bigint,
    retry_at bigint,
    lapses integer not null default 0 check (lapses >= 0),
    pending_revert boolean not null default false,
    logged_at bigint,
    constraint hosts_claim_only_while_gelb check ((claim is not null) = (status = 'gelb')),
    constraint hosts_queued_has_a_place check ((queued_at is not null) = coalesce(claim = 'queued', false)),
    constraint hosts_offer_has_a_deadline check ((deadline is not null) = coalesce(claim = 'offered', false)),
    constraint hosts_lapse_has_a_return check ((retry_at is not null) = coalesce(claim = 'lapsed', false)),
    constraint hosts_revert_only_when_gruen check (status = 'gruen' or not pending_revert)
  )`,
  `create index hosts_routing_token on hosts (routing_token)`,
  `create index hosts_edge on hosts (edge_id, hostname)`,
  `create index hosts_queue on hosts (queued_at, hostname) where claim = 'queued'`,
  `create index hosts_offers on hosts (deadline) where claim = 'offered'`,
  `create index hosts_lapses on hosts (retry_at) where claim = 'lapsed'`,
  `create index hosts_reverts on hosts (hostname) where pending_revert`,
  `create index hosts_unauthorized on hosts (hostname) where status = 'rot'`,
  `create table issuances (
    id bigint generated always as identity primary key,
    ca text not null,
    domain text not null,
    hostname text not null,
    at bigint not null
  )`,
  `create index issuances_budget on issuances (ca, domain, at)`,
  `create table revoked_tokens (
    routing_token text primary key check (routing_token ~ '^[0-9a-f]{64}$'),
    revoked_at bigint not null
  )`
)
