/**
 * Whether visitors reached a tunnel when it was last looked at, for tunnels that were reached at least once; and when the
 * next round of looks is due, which one replica makes.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table tunnel_watches (
    tunnel_id text primary key references tunnels (id) on delete cascade,
    is_up boolean not null,
    since bigint not null
  )`,
  `create index tunnel_watches_down on tunnel_watches (tunnel_id) where not is_up`,
  `create table tunnel_watch_round (
    one boolean primary key default true check (one),
    due_at bigint not null
  )`,
  `insert into tunnel_watch_round (due_at) values (0)`
)
