/** What kind of receiver an alert has, and the token that it takes. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table alerts add column format text not null default 'signed', add column receiver_token text`,
  `create index alerts_receiver_token_sealed_by on alerts ("left"(receiver_token, 12) collate "C")
    where (receiver_token is not null)`
)
