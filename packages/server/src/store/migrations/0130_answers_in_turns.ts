/** Looks at a caller's kept answers once in 32 writes: to count 2,000 rows at each costs more than the request that keeps one. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `drop trigger idempotent_answers_cap on idempotent_answers`,
  `create trigger idempotent_answers_cap after insert on idempotent_answers
    for each row when (new.caller <> '' and random() < 1 / 32.0) execute function idempotent_answers_cap()`
)
