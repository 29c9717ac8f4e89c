/** A hostname whose owner wants no certificate for it: it stays in the queue and is offered none. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table hosts add column opted_out boolean not null default false`)
