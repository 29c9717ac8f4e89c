/**
 * What owners hang on tunnels: alerts with the deliveries they cause, badges, share links with the sessions they gave,
 * and the bridge. A delivery outlives its alert and its tunnel, because an account's budget counts it.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table alerts (
    tunnel_id text primary key references tunnels (id) on delete cascade,
    webhook_url text not null check (webhook_url <> ''),
    threshold_seconds integer not null check (threshold_seconds between 60 and 604800),
    secret text not null check (secret ~ '^[0-9a-f]{64}$'),
    state text not null check (state in ('unknown', 'up', 'down')),
    since bigint not null,
    last_seen_up bigint,
    skipped text check (skipped in ('tunnel.down', 'tunnel.up')),
    due_at bigint not null,
    constraint alerts_up_was_seen check ((last_seen_up is not null) = (state = 'up'))
  )`,
  `create index alerts_due on alerts (due_at, tunnel_id)`,
  `create table alert_deliveries (
    id bigint generated always as identity primary key,
    message_id text not null constraint alert_deliveries_message_unique unique,
    subject text not null check (subject <> ''),
    tunnel_id text not null,
    event text not null check (event in ('tunnel.down', 'tunnel.up', 'tunnel.test')),
    since bigint not null,
    threshold_seconds integer not null,
    at bigint not null,
    status text not null check (status in ('pending', 'ok', 'failed', 'skipped')),
    detail text not null,
    leased_until bigint not null default 0
  )`,
  `create index alert_deliveries_log on alert_deliveries (tunnel_id, id)`,
  `create index alert_deliveries_budget on alert_deliveries (subject, at) where status <> 'skipped'`,
  `create index alert_deliveries_pending on alert_deliveries (leased_until, id) where status = 'pending'`,
  `create index alert_deliveries_age on alert_deliveries (at)`,
  `create table badges (
    tunnel_id text primary key references tunnels (id) on delete cascade,
    public_id text not null constraint badges_public_id_unique unique check (public_id ~ '^[0-9a-f]{64}$')
  )`,
  `create table share_links (
    id text primary key check (id ~ '^[0-9a-f]{32}$'),
    tunnel_id text not null references tunnels (id) on delete cascade,
    host text not null check (host = lower(host)),
    label text check (char_length(label) between 1 and 60),
    single_use boolean not null,
    token_hash text not null constraint share_links_token_unique unique check (token_hash ~ '^[0-9a-f]{64}$'),
    created_at bigint not null,
    expires_at bigint not null,
    opened boolean not null default false,
    revoked boolean not null default false
  )`,
  `create index share_links_tunnel on share_links (tunnel_id, created_at, id)`,
  `create index share_links_expiry on share_links (expires_at)`,
  `create table gate_sessions (
    token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
    host text not null check (host = lower(host)),
    email text check (email = lower(email)),
    share_link_id text references share_links (id) on delete cascade,
    expires_at bigint not null,
    constraint gate_sessions_are_somebodys check ((email is null) <> (share_link_id is null))
  )`,
  `create index gate_sessions_share_link on gate_sessions (share_link_id) where share_link_id is not null`,
  `create index gate_sessions_expiry on gate_sessions (expires_at)`,
  `create table bridges (
    tunnel_id text primary key references tunnels (id) on delete cascade,
    channel text not null check (channel ~ '^[0-9a-f]{64}$'),
    grant_hex text not null check (grant_hex ~ '^[0-9a-f]+$' and length(grant_hex) = 278),
    agent_version text,
    readiness jsonb,
    probed_at bigint
  )`
)
