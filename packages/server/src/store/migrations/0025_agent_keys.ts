/** Which tunnel a join token was made for, so that an edge gets the keys that may serve it. Empty: any of the tenant. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table join_tokens add column tunnel text not null default '' check (tunnel ~ '^([0-9a-f]{32})?$')`,
  `alter table agents add column tunnel text not null default '' check (tunnel ~ '^([0-9a-f]{32})?$')`,
  `alter table agents drop constraint agents_pkey`,
  `alter table agents add primary key (tenant, agent, tunnel)`,
  `create index agents_tunnel on agents (tunnel) where tunnel <> ''`,
  `create index agents_of_any_tunnel on agents (tenant) where tunnel = ''`
)
