/** Refusals of tunnels and of what hangs on them: access windows, badges, receipts. */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"
import { clause } from "../values/Sentence.ts"

// Refusals of alerts and of their deliveries.

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
  { field: Schema.Literals(["webhook_url", "threshold_minutes", "token"]), reason: Schema.String }
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

/** The tunnel does not exist or belongs to another account; the response does not distinguish the two. */
export class TunnelNotFound extends Problem<TunnelNotFound>()("TunnelNotFound", {
  status: 404,
  title: "Tunnel not found",
  detail: () => "No tunnel of yours has this id."
}) {}

/** The account has reached its limit of tunnels. */
export class TunnelLimitReached extends Problem<TunnelLimitReached>()(
  "TunnelLimitReached",
  {
    status: 403,
    title: "Tunnel limit reached",
    detail: ({ limit }) => `Your account has reached its limit of ${limit} tunnels.`
  },
  { limit: Count }
) {}

/** A rule needs something that the tunnel does not have. */
export class RulesRefused extends Problem<RulesRefused>()(
  "RulesRefused",
  { status: 400, title: "Rules refused", detail: ({ field, reason }) => `${field} ${clause(reason)}.` },
  { field: Schema.String, reason: Schema.String }
) {}

/** The account has reached its limit of rules, over all of its tunnels. */
export class RuleLimitReached extends Problem<RuleLimitReached>()(
  "RuleLimitReached",
  {
    status: 403,
    title: "Rule limit reached",
    detail: ({ limit }) => `Your account has reached its limit of ${limit} rules, over all of its tunnels.`
  },
  { limit: Count }
) {}

/** The account has no grant and no pending access request. */
export class GrantNotFound extends Problem<GrantNotFound>()("GrantNotFound", {
  status: 404,
  title: "Nothing to remove",
  detail: () => "The tunnel has no such entry."
}) {}

/** A field of the access window is not acceptable. */
export class AccessRefused extends Problem<AccessRefused>()(
  "AccessRefused",
  {
    status: 400,
    title: "Access window refused",
    detail: ({ field, reason }) => `${field} ${clause(reason)}.`
  },
  { field: Schema.String, reason: Schema.String }
) {}

/** No enabled badge has exactly this public id. */
export class BadgeNotFound extends Problem<BadgeNotFound>()("BadgeNotFound", {
  status: 404,
  title: "Badge not found",
  detail: () => "There is no such badge."
}) {}

/** The edge did not supply the receipts. */
export class ReceiptsUnavailable extends Problem<ReceiptsUnavailable>()(
  "ReceiptsUnavailable",
  {
    status: 502,
    title: "Receipts unavailable",
    detail: ({ reason }) => `The receipts cannot be exported now: ${clause(reason)}.`
  },
  { reason: Schema.String }
) {}
