/** Host names that were bound to a revoked routing token lead nowhere; they are free again. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(`delete from hosts h using revoked_tokens r where r.routing_token = h.routing_token`)
