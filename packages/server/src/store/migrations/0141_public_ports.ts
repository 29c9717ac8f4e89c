/**
 * The ports that edges offer, and the tunnels that have one. The row of a deleted tunnel stays, so that a port that visitors know
 * goes to another tunnel as late as possible.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table edge_nodes add column ports jsonb`,
  `create table public_ports (
    protocol text not null,
    port integer not null,
    tunnel_id text references tunnels (id) on delete set null,
    allotted_at bigint not null,
    constraint public_ports_pkey primary key (protocol, port),
    constraint public_ports_protocol_check check (protocol in ('tcp', 'udp')),
    constraint public_ports_port_check check (port between 1 and 65535)
  )`,
  `create unique index public_ports_tunnel on public_ports (tunnel_id)`
)
