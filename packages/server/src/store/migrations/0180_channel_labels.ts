/** What the owner of a channel calls it in the portal. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table channels add column label text`)
