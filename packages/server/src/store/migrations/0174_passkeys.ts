/** Passkeys of users of the platform's own identity provider. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table sign_in_passkeys (
    id text not null,
    user_id text not null,
    public_key text not null,
    algorithm integer not null,
    counter bigint not null,
    at bigint not null,
    used_at bigint,
    constraint sign_in_passkeys_pkey primary key (id),
    constraint sign_in_passkeys_user_id_fkey foreign key (user_id) references sign_in_users (id) on delete cascade
  )`,
  `create index sign_in_passkeys_user on sign_in_passkeys (user_id)`
)
