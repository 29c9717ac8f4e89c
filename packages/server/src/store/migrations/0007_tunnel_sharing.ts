/** Who else may see a tunnel, who passes its login gate, who asked to, and how many tunnels and channels an account may have. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table tunnels add column bridge_mode text not null default 'off'
    check (bridge_mode in ('off', 'ephemeral', 'permanent'))`,
  `create table tunnel_grants (
    tunnel_id text not null references tunnels (id) on delete cascade,
    grantee text not null check (grantee <> ''),
    primary key (tunnel_id, grantee)
  )`,
  `create index tunnel_grants_grantee on tunnel_grants (grantee, tunnel_id)`,
  `create table tunnel_visitors (
    tunnel_id text not null references tunnels (id) on delete cascade,
    email text not null check (email = lower(email)),
    primary key (tunnel_id, email)
  )`,
  `create table tunnel_access_requests (
    tunnel_id text not null references tunnels (id) on delete cascade,
    email text not null check (email = lower(email)),
    note text not null,
    at bigint not null,
    primary key (tunnel_id, email)
  )`,
  `create table account_limits (
    subject text primary key check (subject <> ''),
    max_tunnels integer check (max_tunnels >= 0),
    max_channels integer check (max_channels >= 0)
  )`
)
