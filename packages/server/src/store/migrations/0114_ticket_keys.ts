/**
 * The keys of session tickets that all edges share, sealed text, by the unix second from which each seals. A row lives for
 * three periods of twelve hours: the one before its own, its own, and the one after.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table ticket_keys (from_at bigint primary key, key text not null check (key ~ '^s1\\.[0-9a-f]{8}\\.'))`
)
