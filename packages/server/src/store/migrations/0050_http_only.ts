/** Whether visitors of a tunnel may speak nothing but HTTP at its gelb hostname. */
import * as Statements from "./Statements.ts"

export const up = Statements.of("alter table tunnels add column http_only boolean not null default false")
