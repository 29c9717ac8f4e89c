/** The name under which edges keep the records of a tunnel that has got a new routing token: the hash of its first one. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table tunnels add column records_name text
    check (length(records_name) = 64 and records_name !~ '[^0-9a-f]')`
)
