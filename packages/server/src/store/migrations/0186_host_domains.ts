/** Whether a wildcard would stand for names of others is looked up by the name above them. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`create index hosts_domain on hosts (domain)`)
