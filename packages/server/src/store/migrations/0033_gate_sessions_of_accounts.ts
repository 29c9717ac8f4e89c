/** An account that ends takes its visits with it: its sessions at gates and the codes for them are found by its subject. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create index gate_sessions_subject on gate_sessions (subject) where subject is not null`,
  `create index gate_codes_subject on gate_codes (subject) where subject is not null`
)
