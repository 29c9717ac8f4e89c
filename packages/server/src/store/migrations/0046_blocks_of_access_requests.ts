/** A request to be let in says which block of addresses it came from, by a pseudonym; requests are forgotten by age. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table tunnel_access_requests add column block text`,
  `create index tunnel_access_requests_age on tunnel_access_requests (at)`
)
