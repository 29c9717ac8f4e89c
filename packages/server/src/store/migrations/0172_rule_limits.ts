/** The limit of rules that an operator gives an account. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table account_limits add column max_rules integer,
    add constraint account_limits_max_rules_check check (max_rules >= 0)`
)
