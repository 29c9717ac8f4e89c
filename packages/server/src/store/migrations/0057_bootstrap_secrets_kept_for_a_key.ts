/**
 * A bootstrap token that was redeemed with a key keeps its sealed secret for that key until the token's own end, so that a
 * lost answer does not cost the token. One that was redeemed without a key keeps nothing, as before.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table bootstrap_tokens add column redeemed_by text check (length(redeemed_by) = 64 and redeemed_by !~ '[^0-9a-f]'),
    drop constraint bootstrap_tokens_spent_is_empty`,
  `alter table bootstrap_tokens add constraint bootstrap_tokens_secret_is_owed check (
    case when redeemed_at is null then sealed is not null and redeemed_by is null
      else sealed is null or redeemed_by is not null end)`,
  `create index bootstrap_tokens_kept on bootstrap_tokens (expires_at) where redeemed_at is not null and sealed is not null`
)
