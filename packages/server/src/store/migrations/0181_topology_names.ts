/** What the owner of a topology calls it in the portal. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table topologies add column name text`)
