/** Host names: ownership, address records, and the state of certificate admission. */
export const statements = [
  `create table hosts (
    hostname text not null,
    routing_token text not null,
    edge_id text not null,
    authorized_at bigint not null,
    status text not null,
    claim text,
    ca text,
    queued_at bigint,
    deadline bigint,
    retry_at bigint,
    lapses integer default 0 not null,
    pending_revert boolean default false not null,
    logged_at bigint,
    domain text generated always as ( case when (hostname ~~ '%.%.%') then substr(hostname, (strpos(hostname, '.') + 1)) else hostname end) stored not null,
    opted_out boolean default false not null,
    constraint hosts_pkey primary key (hostname),
    constraint hosts_claim_check check (claim in ('queued', 'offered', 'lapsed')),
    constraint hosts_claim_only_while_gelb check ((claim is not null) = (status = 'gelb')),
    constraint hosts_hostname_check check (hostname = lower(hostname)),
    constraint hosts_lapse_has_a_return check ((retry_at is not null) = coalesce((claim = 'lapsed'), false)),
    constraint hosts_lapses_check check (lapses >= 0),
    constraint hosts_offer_has_a_deadline check ((deadline is not null) = coalesce((claim = 'offered'), false)),
    constraint hosts_queued_has_a_place check ((queued_at is not null) = coalesce((claim = 'queued'), false)),
    constraint hosts_revert_only_when_gruen check ((status = 'gruen') or (not pending_revert)),
    constraint hosts_routing_token_check check ((length(routing_token) = 64) and (routing_token !~ '[^0-9a-f]')),
    constraint hosts_status_check check (status in ('rot', 'gelb', 'gruen'))
  )`,
  `create index hosts_lapses on hosts (retry_at) where (claim = 'lapsed')`,
  `create index hosts_offers on hosts (deadline) where (claim = 'offered')`,
  `create index hosts_queue_of_domain on hosts (domain, queued_at, hostname) where (claim = 'queued')`,
  `create index hosts_reverts on hosts (hostname) where pending_revert`,
  `create index hosts_routing_token on hosts (routing_token)`,
  `create index hosts_unauthorized on hosts (hostname) where (status = 'rot')`,
  `create table hostname_claims (
    tunnel_id text not null,
    hostname text not null,
    target text,
    proved_at bigint,
    checked_at bigint,
    provisioned boolean default false not null,
    constraint hostname_claims_pkey primary key (tunnel_id),
    constraint hostname_claims_hostname_check check (hostname = lower(hostname)),
    constraint hostname_claims_target_check check (target = lower(target)),
    constraint hostname_claims_tunnel_id_fkey foreign key (tunnel_id) references tunnels(id) on delete cascade
  )`,
  `create table address_records (
    hostname text not null,
    wanted boolean not null,
    published text,
    due_at bigint,
    attempts integer default 0 not null,
    leased_until bigint default 0 not null,
    constraint address_records_pkey primary key (hostname),
    constraint address_records_attempts_check check (attempts >= 0),
    constraint address_records_hostname_check check (hostname = lower(hostname)),
    constraint address_records_unwanted_are_due check (wanted or (due_at is not null))
  )`,
  `create index address_records_due on address_records (due_at) where (due_at is not null)`,
  `create table issuances (
    id bigint generated always as identity,
    ca text not null,
    domain text not null,
    hostname text not null,
    at bigint not null,
    account text,
    constraint issuances_pkey primary key (id)
  )`,
  `create index issuances_budget on issuances (ca, domain, at)`,
  `create table issuance_failures (
    hostname text not null,
    ca text not null,
    reason text not null,
    detail text,
    at bigint not null,
    retry_at bigint not null,
    constraint issuance_failures_pkey primary key (hostname, ca),
    constraint issuance_failures_hostname_fkey foreign key (hostname) references hosts(hostname) on delete cascade
  )`,
  `create table certificate_progress (
    hostname text not null,
    agent text not null,
    step text not null,
    at bigint not null,
    constraint certificate_progress_pkey primary key (hostname),
    constraint certificate_progress_hostname_fkey foreign key (hostname) references hosts(hostname) on delete cascade
  )`,
  `create function hostname_claims_give_up_address_records() returns trigger language plpgsql as $$
    begin
      delete from address_records where hostname = old.target and published is null;
      update address_records set wanted = false, due_at = 0, attempts = 0 where hostname = old.target;
      return null;
    end $$`,
  `create function tunnels_give_up_address_records() returns trigger language plpgsql as $$
    begin
      delete from address_records where hostname = old.hostname and published is null;
      update address_records set wanted = false, due_at = 0, attempts = 0 where hostname = old.hostname;
      return null;
    end $$`,
  `create trigger hostname_claims_give_up_address_records after delete on hostname_claims for each row when ((old.target is not null)) execute function hostname_claims_give_up_address_records()`,
  `create trigger tunnels_give_up_address_records after delete on tunnels for each row when ((old.hostname is not null)) execute function tunnels_give_up_address_records()`
]
