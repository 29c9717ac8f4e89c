/** How often the policy of a tunnel has changed, and whether an agent enforces it where it ends the visitors' TLS. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table tunnel_policies (
    tunnel_id text primary key references tunnels (id) on delete cascade,
    revision bigint not null default 0,
    share_epoch bigint not null default 0,
    enforced boolean not null default false
  )`
)
