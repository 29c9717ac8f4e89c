/** Every edge restores every host, so that none are looked for by the edge that they are bound to. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`drop index hosts_edge`)
