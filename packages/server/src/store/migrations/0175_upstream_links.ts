/** Which user an account at a provider elsewhere signs in. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table sign_in_links (
    issuer text not null,
    subject text not null,
    user_id text not null,
    constraint sign_in_links_pkey primary key (issuer, subject),
    constraint sign_in_links_user_id_fkey foreign key (user_id) references sign_in_users (id) on delete cascade
  )`,
  `create index sign_in_links_user on sign_in_links (user_id)`
)
