/** Which account has minted a bootstrap token, so that one account cannot take the room of all; null for the operator. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table bootstrap_tokens add column minted_by text check (minted_by <> '')`,
  `create index bootstrap_tokens_of_account on bootstrap_tokens (minted_by, expires_at) where minted_by is not null`
)
