/** Alerts of tunnels, their deliveries, and the round over all tunnels. */
export const statements = [
  `create table alerts (
    tunnel_id text not null,
    webhook_url text not null,
    threshold_seconds integer not null,
    secret text not null,
    state text not null,
    since bigint not null,
    last_seen_up bigint,
    skipped text,
    due_at bigint not null,
    constraint alerts_pkey primary key (tunnel_id),
    constraint alerts_secret_check check ((secret ~ '^s1\\.[0-9a-f]{8}\\.') or ((length(secret) = 64) and (secret ~ '^[0-9a-f]+$'))),
    constraint alerts_skipped_check check (skipped in ('tunnel.down', 'tunnel.up')),
    constraint alerts_state_check check (state in ('unknown', 'up', 'down')),
    constraint alerts_threshold_seconds_check check ((threshold_seconds >= 60) and (threshold_seconds <= 604800)),
    constraint alerts_up_was_seen check ((last_seen_up is not null) = (state = 'up')),
    constraint alerts_webhook_url_check check (webhook_url <> ''),
    constraint alerts_tunnel_id_fkey foreign key (tunnel_id) references tunnels(id) on delete cascade
  )`,
  `create index alerts_down on alerts (tunnel_id) where (state = 'down')`,
  `create index alerts_due on alerts (due_at, tunnel_id)`,
  `create index alerts_sealed_by on alerts ("left"(secret, 12) collate "C") where (secret is not null)`,
  `create index alerts_webhook_url_sealed_by on alerts ("left"(webhook_url, 12) collate "C")`,
  `create table alert_deliveries (
    id bigint generated always as identity,
    message_id text not null,
    subject text not null,
    tunnel_id text not null,
    event text not null,
    since bigint not null,
    threshold_seconds integer not null,
    at bigint not null,
    status text not null,
    detail text not null,
    leased_until bigint default 0 not null,
    constraint alert_deliveries_message_unique unique (message_id),
    constraint alert_deliveries_pkey primary key (id),
    constraint alert_deliveries_event_check check (event in ('tunnel.down', 'tunnel.up', 'tunnel.test')),
    constraint alert_deliveries_status_check check (status in ('pending', 'ok', 'failed', 'skipped')),
    constraint alert_deliveries_subject_check check (subject <> '')
  )`,
  `create index alert_deliveries_age on alert_deliveries (at)`,
  `create index alert_deliveries_budget on alert_deliveries (subject, at) where (status <> 'skipped')`,
  `create index alert_deliveries_log on alert_deliveries (tunnel_id, id)`,
  `create index alert_deliveries_pending on alert_deliveries (leased_until, id) where (status = 'pending')`,
  `create table tunnel_watches (
    tunnel_id text not null,
    is_up boolean not null,
    since bigint not null,
    constraint tunnel_watches_pkey primary key (tunnel_id),
    constraint tunnel_watches_tunnel_id_fkey foreign key (tunnel_id) references tunnels(id) on delete cascade
  )`,
  `create index tunnel_watches_down on tunnel_watches (tunnel_id) where (not is_up)`,
  `create table tunnel_watch_round (
    one boolean default true not null,
    due_at bigint not null,
    constraint tunnel_watch_round_pkey primary key (one),
    constraint tunnel_watch_round_one_check check (one)
  )`,
  `insert into tunnel_watch_round (one, due_at) values (true, 0)`
]
