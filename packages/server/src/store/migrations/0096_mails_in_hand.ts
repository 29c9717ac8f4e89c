/** Mails that a process hands over now, or handed over when it ended. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`create index notice_mails_in_hand on notice_mails (due_at) where state = 'sending'`)
