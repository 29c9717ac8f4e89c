/**
 * Where a sign-in leads to may carry a secret in its address, such as that of an invite, so it is sealed text. A sign-in
 * that had begun before keeps its text as it stands: it ends within ten minutes, and the server seals it at its start.
 */
import * as Statements from "./Statements.ts"

const sealed = (table: string, column: string, plain: string) => [
  `alter table ${table} drop constraint ${table}_${column}_check`,
  `alter table ${table} add constraint ${table}_${column}_check check (${column} ~ '^s1\\.[0-9a-f]{8}\\.' or ${plain})`,
  `create index ${table}_sealed_by on ${table} (left(${column}, 12) collate "C")`
]

export const up = Statements.of(
  ...sealed("portal_sign_ins", "next", "next like '/portal%'"),
  ...sealed("gate_sign_ins", "path", "path like '/%'"),
  ...sealed("gate_codes", "path", "path like '/%'")
)
