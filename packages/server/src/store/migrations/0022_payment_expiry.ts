/** Payments that were not confirmed, in the order in which they are given up. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create index payment_intents_unconfirmed on payment_intents (created_at) where not confirmed`
)
