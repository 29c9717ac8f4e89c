/** What the owner of a tunnel wants done with each request, and whether an agent does that where it ends the visitors' TLS. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table tunnels add column rules jsonb not null default '[]'`,
  `alter table tunnel_policies add column rules_enforced boolean not null default false`
)
