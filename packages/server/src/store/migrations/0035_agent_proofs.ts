/**
 * A key that was enrolled through a grant goes with the grant, and replaces no key of the owner. A tunnel knows whether an
 * enrolled agent has proved its key, and whether its owner lets agents in that cannot.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table agents
    add column grantee text,
    add constraint agents_of_a_grant
      foreign key (tunnel, grantee) references tunnel_grants (tunnel_id, grantee) on delete cascade,
    drop constraint agents_pkey,
    add constraint agents_once unique nulls not distinct (tenant, agent, tunnel, grantee)`,
  `create index agents_grant on agents (tunnel, grantee) where grantee is not null`,
  `alter table tunnels
    add column agent_proved_at bigint,
    add column allow_unproved_agents boolean not null default false`
)
