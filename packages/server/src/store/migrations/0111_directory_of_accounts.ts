/** Which account has registered an agent in the directory, and until when its card is good; null for entries of the operator. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table directory_agents add column subject text check (subject <> '')`,
  `alter table directory_agents add column expires_at bigint check ((expires_at is null) = (subject is null))`,
  `create index directory_agents_of_account on directory_agents (subject) where subject is not null`,
  `create index directory_agents_expiring on directory_agents (expires_at) where expires_at is not null`
)
