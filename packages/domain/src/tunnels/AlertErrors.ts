/** Refusals of alerts and of their deliveries. */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"
import { clause } from "../values/Sentence.ts"

/** Deliveries of one account, over all its alerts, in any hour. */
export const deliveryBudget = 20

/** A field of the alert is not acceptable. */
export class AlertRefused extends Problem<AlertRefused>()(
  "AlertRefused",
  {
    status: 400,
    title: "Alert refused",
    detail: ({ field, reason }) => `${field} ${clause(reason)}.`
  },
  { field: Schema.Literals(["webhook_url", "threshold_minutes"]), reason: Schema.String }
) {}

/** The tunnel has no alert. */
export class AlertNotFound extends Problem<AlertNotFound>()("AlertNotFound", {
  status: 404,
  title: "Alert not found",
  detail: () => "This tunnel has no alert."
}) {}

/** The hourly limit of deliveries has been reached. */
export class DeliveryBudgetSpent extends Problem<DeliveryBudgetSpent>()(
  "DeliveryBudgetSpent",
  {
    status: 429,
    title: "Delivery budget spent",
    detail: ({ retry_after }) =>
      `Your account has used its ${deliveryBudget} deliveries an hour; try again in ${retry_after} s.`
  },
  { retry_after: Count }
) {}
