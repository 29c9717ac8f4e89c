/** Agents with their keys, and the one-time tokens by which they enroll. */
export const statements = [
  `create table agents (
    tenant text not null,
    agent text not null,
    pubkey text not null,
    bound_at bigint not null,
    tunnel text default '' not null,
    grantee text,
    constraint agents_once unique nulls not distinct (tenant, agent, tunnel, grantee),
    constraint agents_pubkey_check check ((length(pubkey) = 64) and (pubkey !~ '[^0-9a-f]')),
    constraint agents_tunnel_check check (tunnel ~ '^([0-9a-f]{32})?$'),
    constraint agents_of_a_grant foreign key (tunnel, grantee) references tunnel_grants(tunnel_id, grantee) on delete cascade
  )`,
  `create index agents_grant on agents (tunnel, grantee) where (grantee is not null)`,
  `create index agents_of_any_tunnel on agents (tenant) where (tunnel = '')`,
  `create index agents_tunnel on agents (tunnel) where (tunnel <> '')`,
  `create table join_batches (
    idempotency_key text not null,
    tenant text not null,
    count integer not null,
    salt text default '' not null,
    created_at bigint default 0 not null,
    constraint join_batches_pkey primary key (idempotency_key)
  )`,
  `create index join_batches_age on join_batches (created_at) where (salt <> '')`,
  `create table join_tokens (
    token_hash text not null,
    tenant text not null,
    created_at bigint not null,
    redeemed_at bigint,
    redeemed_by text,
    tunnel text default '' not null,
    grantee text,
    constraint join_tokens_pkey primary key (token_hash),
    constraint join_tokens_redemption_is_whole check ((redeemed_at is null) = (redeemed_by is null)),
    constraint join_tokens_token_hash_check check ((length(token_hash) = 64) and (token_hash !~ '[^0-9a-f]')),
    constraint join_tokens_tunnel_check check (tunnel ~ '^([0-9a-f]{32})?$'),
    constraint join_tokens_of_a_grant foreign key (tunnel, grantee) references tunnel_grants(tunnel_id, grantee) on delete cascade
  )`,
  `create index join_tokens_grant on join_tokens (tunnel, grantee) where (grantee is not null)`,
  `create index join_tokens_redeemed on join_tokens (redeemed_at) where (redeemed_at is not null)`,
  `create index join_tokens_unused on join_tokens (tenant, coalesce(grantee, '')) where (redeemed_at is null)`,
  `create index join_tokens_unused_age on join_tokens (created_at) where (redeemed_at is null)`,
  `create table bootstrap_tokens (
    token_hash text not null,
    sealed bytea,
    created_at bigint not null,
    expires_at bigint not null,
    redeemed_at bigint,
    redeemed_by text,
    minted_by text,
    constraint bootstrap_tokens_pkey primary key (token_hash),
    constraint bootstrap_tokens_minted_by_check check (minted_by <> ''),
    constraint bootstrap_tokens_redeemed_by_check check ((length(redeemed_by) = 64) and (redeemed_by !~ '[^0-9a-f]')),
    constraint bootstrap_tokens_secret_is_owed check (case when (redeemed_at is null) then ((sealed is not null) and (redeemed_by is null)) else ((sealed is null) or (redeemed_by is not null)) end),
    constraint bootstrap_tokens_token_hash_check check ((length(token_hash) = 64) and (token_hash !~ '[^0-9a-f]'))
  )`,
  `create index bootstrap_tokens_kept on bootstrap_tokens (expires_at) where ((redeemed_at is not null) and (sealed is not null))`,
  `create index bootstrap_tokens_of_account on bootstrap_tokens (minted_by, expires_at) where (minted_by is not null)`,
  `create index bootstrap_tokens_redeemed on bootstrap_tokens (redeemed_at) where (redeemed_at is not null)`,
  `create index bootstrap_tokens_unused on bootstrap_tokens (expires_at) where (redeemed_at is null)`,
  `create function tunnel_enrol(of_id text, by_subject text, named text, token text, usual_most integer, actor text, action text, moment bigint, key text, request text, answer_nonce bytea, answer_sealed bytea, out is_new boolean, out refusal text) returns record language plpgsql as $$
    begin
      if key is not null then
        insert into idempotent_answers (key_hash, request_hash, created_at, nonce, sealed)
          values (key, request, moment, answer_nonce, answer_sealed) on conflict (key_hash) do nothing;
        is_new := found;
        if not is_new then return; end if;
      end if;
      select n.held < coalesce(n.most, usual_most) into is_new from tunnels_counted(by_subject) n;
      if is_new then
        insert into tunnels (id, subject, name, routing_token, created_at)
          values (of_id, by_subject, named, token, moment);
        refusal := audit_append(actor, action, of_id, '', moment);
      elsif key is not null then
        delete from idempotent_answers where key_hash = key;
      end if;
    end $$`
]
