/** An edge that boots is told of every tunnel without a hostname; they are few, and found without reading the others. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create index tunnels_without_hostname on tunnels (routing_token) where hostname is null`
)
