/** What the log of deliveries says of each: delivered, refused by policy, or not delivered. Older lines said more. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `update alert_deliveries set detail = case
      when status = 'ok' then 'delivered'
      when detail = 'its address is not on the public internet' then 'refused by policy'
      else 'not delivered' end
    where status in ('ok', 'failed')`
)
