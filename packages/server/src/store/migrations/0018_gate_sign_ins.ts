/**
 * Visitors who sign in at a login gate: sign-ins that are under way, and sessions that know the account besides its
 * address, one row a host, so that one cookie opens several. And the counts of limits that all replicas share.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table gate_sign_ins (
    secret_hash text primary key check (secret_hash ~ '^[0-9a-f]{64}$'),
    host text not null check (host = lower(host)),
    path text not null check (path like '/%'),
    expires_at bigint not null
  )`,
  `create index gate_sign_ins_expiry on gate_sign_ins (expires_at)`,
  `delete from gate_sessions where share_link_id is null`,
  `alter table gate_sessions add column subject text check (subject <> ''),
    drop constraint gate_sessions_are_somebodys,
    add constraint gate_sessions_are_somebodys check ((subject is null) <> (share_link_id is null)),
    add constraint gate_sessions_address_of_account check (email is null or subject is not null),
    drop constraint gate_sessions_pkey,
    add constraint gate_sessions_pkey primary key (token_hash, host)`,
  `create table request_counts (
    key text primary key,
    minute bigint not null,
    count integer not null check (count > 0)
  )`,
  `create index request_counts_minute on request_counts (minute)`
)
