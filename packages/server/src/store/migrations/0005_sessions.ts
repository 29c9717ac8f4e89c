/** Portal sessions, by the hash of what the cookie holds. `email` is one that the identity provider has verified. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table portal_sessions (
    token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
    subject text not null check (subject <> ''),
    email text check (email = lower(email)),
    id_token text,
    user_agent text not null,
    created_at bigint not null,
    seen_at bigint not null,
    expires_at bigint not null
  )`,
  `create index portal_sessions_subject on portal_sessions (subject, created_at)`,
  `create index portal_sessions_expiry on portal_sessions (expires_at)`
)
