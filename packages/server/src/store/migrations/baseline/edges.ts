/** Edge nodes and the orders that wait for them (`outbox`). */
export const statements = [
  `create table edge_nodes (
    id text not null,
    peer_addr text not null,
    pubkey text,
    seen_at bigint not null,
    constraint edge_nodes_pkey primary key (id),
    constraint edge_nodes_id_check check (id <> ''),
    constraint edge_nodes_pubkey_check check ((length(pubkey) = 64) and (pubkey !~ '[^0-9a-f]'))
  )`,
  `create table edge_addresses (
    edge_id text not null,
    admin_url text not null,
    epoch text,
    expires_at bigint not null,
    compared_at bigint default 0 not null,
    constraint edge_addresses_pkey primary key (edge_id),
    constraint edge_addresses_admin_url_check check (admin_url <> ''),
    constraint edge_addresses_edge_id_check check (edge_id <> '')
  )`,
  `create table outbox (
    id bigint generated always as identity,
    queue text not null,
    call jsonb not null,
    created_at bigint not null,
    due_at bigint not null,
    attempts integer default 0 not null,
    leased_until bigint default 0 not null,
    refused_at bigint,
    refusal text,
    edge text default '' not null,
    about text,
    constraint outbox_pkey primary key (id),
    constraint outbox_attempts_check check (attempts >= 0),
    constraint outbox_refusal_is_whole check ((refused_at is null) = (refusal is null))
  )`,
  `create index outbox_due on outbox (due_at, id) where (refused_at is null)`,
  `create index outbox_edge on outbox (edge)`,
  `create index outbox_queue on outbox (queue, edge, id) where (refused_at is null)`,
  `create index outbox_refused on outbox (queue, refused_at) where (refused_at is not null)`,
  `create table revoked_tokens (
    routing_token text not null,
    revoked_at bigint not null,
    id bigint generated always as identity,
    tunnel_id text,
    constraint revoked_tokens_pkey primary key (routing_token),
    constraint revoked_tokens_routing_token_check check ((length(routing_token) = 64) and (routing_token !~ '[^0-9a-f]'))
  )`,
  `create index revoked_tokens_age on revoked_tokens (revoked_at)`,
  `create unique index revoked_tokens_id on revoked_tokens (id)`,
  `create table ticket_keys (
    from_at bigint not null,
    key text not null,
    constraint ticket_keys_pkey primary key (from_at),
    constraint ticket_keys_key_check check (key ~ '^s1\\.[0-9a-f]{8}\\.')
  )`
]
