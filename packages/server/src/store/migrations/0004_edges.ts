/** Edge servers that have reported themselves. The first public key an edge presents is pinned. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table edge_nodes (
    id text primary key check (id <> ''),
    peer_addr text not null,
    pubkey text check (pubkey ~ '^[0-9a-f]{64}$'),
    seen_at bigint not null
  )`
)
