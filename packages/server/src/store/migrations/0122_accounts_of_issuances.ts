/** Whose tunnel a certificate was counted for, so that no account uses up a domain that accounts share. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table issuances add column account text`)
