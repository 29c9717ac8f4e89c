/**
 * An order is a row for each edge that has to take it, and `edge_addresses` says which these are. A row without an edge
 * was written by a release that knew one edge; the replica that has this edge in its settings gives the row to it.
 * `about` says the state of what a call tells: the newest of those that no edge has taken is enough.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table edge_addresses (
    edge_id text primary key check (edge_id <> ''),
    admin_url text not null check (admin_url <> ''),
    epoch text,
    expires_at bigint not null
  )`,
  `alter table outbox add column edge text not null default '', add column about text`,
  `drop index outbox_queue`,
  `create index outbox_queue on outbox (queue, edge, id) where refused_at is null`,
  `create index outbox_edge on outbox (edge)`
)
