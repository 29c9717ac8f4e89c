/** Revoked tokens get a number, by which they are read in pages: a cursor names no token. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table revoked_tokens add column id bigint generated always as identity`,
  `create unique index revoked_tokens_id on revoked_tokens (id)`,
  `create index revoked_tokens_age on revoked_tokens (revoked_at)`
)
