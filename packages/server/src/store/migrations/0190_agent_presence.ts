/** At which edges the tunnels have agents, as the edges report it. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table agent_presence (
    routing_token text not null,
    edge_id text not null references edge_nodes (id) on delete cascade,
    primary key (routing_token, edge_id)
  )`,
  `create index agent_presence_edge on agent_presence (edge_id)`
)
