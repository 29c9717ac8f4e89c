/** The version that an agent said of itself whose carrier does not tell it to the edge. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`alter table tunnels add column agent_version text`)
