/** Which tunnel a replaced token belonged to, for its agents that ask for the new one, and which grantees were shown a token. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table revoked_tokens add column tunnel_id text`,
  // What was granted before may have been installed.
  `alter table tunnel_grants add column knows_token boolean not null default true`,
  `alter table tunnel_grants alter column knows_token set default false`
)
