/** Until when a deposited grant is good: its text is sealed, so the database does not see it. Null: not looked at yet. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table channel_grants add column expires_at bigint`,
  `create index channel_grants_expiry on channel_grants (expires_at)`,
  `create index alerts_down on alerts (tunnel_id) where state = 'down'`
)
