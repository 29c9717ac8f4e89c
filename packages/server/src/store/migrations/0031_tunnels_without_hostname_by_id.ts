/** An edge that boots reads the tunnels without a hostname in pages, in the order of their ids. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `drop index tunnels_without_hostname`,
  `create index tunnels_without_hostname on tunnels (id) where hostname is null`
)
