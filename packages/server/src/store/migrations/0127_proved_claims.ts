/** A claim that the holder signed for its account takes the membership from one without that signature. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table channel_claims add column is_proved boolean not null default false`)
