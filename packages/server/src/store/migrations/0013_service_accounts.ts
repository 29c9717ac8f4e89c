/**
 * Service accounts. A row stands here before the provider is asked for a client and until that client is gone, so that
 * nothing of ours is left there. An account has fifty places; a row that is given up has lost its own.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table service_accounts (
    client_id text primary key check (client_id ~ '^sa-[0-9a-f]{32}$'),
    owner text not null check (owner <> ''),
    name text not null,
    state text not null check (state in ('pending', 'active', 'releasing')),
    place smallint check (place between 1 and 50),
    internal_id text,
    key_hash text check (key_hash ~ '^[0-9a-f]{64}$'),
    created_at bigint not null,
    due_at bigint not null,
    constraint service_accounts_place_unique unique (owner, place),
    constraint service_accounts_key_unique unique (owner, key_hash),
    constraint service_accounts_place_held check (state = 'releasing' or place is not null),
    constraint service_accounts_active_whole check (state <> 'active' or internal_id is not null)
  )`,
  `create index service_accounts_listed on service_accounts (owner, created_at, client_id) where state = 'active'`,
  `create index service_accounts_due on service_accounts (due_at) where state <> 'active'`
)
