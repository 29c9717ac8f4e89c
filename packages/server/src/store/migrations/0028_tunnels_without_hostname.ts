/** An edge that boots reads every tunnel without a hostname; they are few, and this index finds them alone. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create index tunnels_without_hostname on tunnels (routing_token) where hostname is null`
)
