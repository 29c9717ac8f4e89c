/** Whether an agent's key has signed for the account that owns it. The placements of earlier releases are without proof. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table topology_agents add column proved boolean not null default false`)
