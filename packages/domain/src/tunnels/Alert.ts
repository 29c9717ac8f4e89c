/** The dead-man alert of a tunnel: who is told when it is gone, and when it is back. */
import { Schema } from "effect"
import { TunnelId } from "../values/Ids.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { AlertSecret } from "../values/Tokens.ts"

export const AlertEvent = Schema.Literals(["tunnel.down", "tunnel.up", "tunnel.test"])
export type AlertEvent = typeof AlertEvent.Type

/** Longest time without a sign of life before a report: a week. */
export const maxThresholdMinutes = 10_080

/** Deliveries in an hour, over all alerts of an account. */
export const alertBudget = 20

/** As its owner sees it. `since`: when the present state began. */
export class Alert extends Schema.Class<Alert>("Alert")({
  webhook_url: Schema.String,
  threshold_minutes: Count,
  state: Schema.Literals(["unknown", "up", "down"]),
  since: UnixSeconds
}) {}

/** The secret is in the answer that created the alert, and in no other. */
export class SavedAlert extends Schema.Class<SavedAlert>("SavedAlert")({
  alert: Alert,
  secret: Schema.optionalKey(AlertSecret)
}) {}

/** One line of the delivery log. */
export class AlertDelivery extends Schema.Class<AlertDelivery>("AlertDelivery")({
  at: UnixSeconds,
  event: AlertEvent,
  status: Schema.Literals(["ok", "failed", "skipped"]),
  detail: Schema.String
}) {}

/** The body of a delivery. Compact JSON in this order of members is what the signature covers. */
export class AlertMessage extends Schema.Class<AlertMessage>("AlertMessage")({
  event: AlertEvent,
  tunnel_id: TunnelId,
  name: Schema.String,
  since: UnixSeconds,
  threshold_secs: Count,
  sent_at: UnixSeconds
}) {}
