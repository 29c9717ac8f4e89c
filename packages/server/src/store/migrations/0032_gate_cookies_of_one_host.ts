/**
 * A visitor's session is for one host. The cookies of before, of accounts and of share links alike, were of the zone: each
 * was sent to the hosts of every tenant, so none of them can be kept, and visitors sign in again. A sign-in leads to the
 * host by a code, and what one sign-in gave ends together.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `delete from gate_sessions`,
  `alter table gate_sessions
    add column sign_in text not null default replace(gen_random_uuid()::text, '-', '') check (sign_in <> ''),
    drop constraint gate_sessions_pkey,
    add constraint gate_sessions_pkey primary key (token_hash)`,
  `create index gate_sessions_sign_in on gate_sessions (sign_in)`,
  `alter table gate_sign_ins add column browser text check (length(browser) = 64 and browser !~ '[^0-9a-f]')`,
  `create table gate_codes (
    code_hash text primary key check (length(code_hash) = 64 and code_hash !~ '[^0-9a-f]'),
    browser text not null check (length(browser) = 64 and browser !~ '[^0-9a-f]'),
    host text not null check (host = lower(host)),
    path text not null check (path like '/%'),
    subject text check (subject <> ''),
    email text check (email = lower(email)),
    share_link_id text references share_links (id) on delete cascade,
    sign_in text not null check (sign_in <> ''),
    session_expires_at bigint not null,
    expires_at bigint not null,
    constraint gate_codes_are_somebodys check ((subject is null) <> (share_link_id is null)),
    constraint gate_codes_address_of_account check (email is null or subject is not null)
  )`,
  `create index gate_codes_expiry on gate_codes (expires_at)`,
  `create index gate_codes_sign_in on gate_codes (sign_in)`,
  `create index gate_codes_share_link on gate_codes (share_link_id) where share_link_id is not null`
)
