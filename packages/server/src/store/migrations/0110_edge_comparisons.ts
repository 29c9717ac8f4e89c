/** When an edge that enters no epoch was last compared with what it is to serve, so that one replica does it at a time. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table edge_addresses add column compared_at bigint not null default 0`)
