/** The dead-man alert of a tunnel: which receiver is called when it goes down and when it is back, and how often. */
import { Redacted, Result, Schema } from "effect"
import { TunnelId } from "../values/Ids.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { AlertSecret } from "../values/Tokens.ts"
import { AlertFormat, tokenOf, unfit } from "./AlertFormat.ts"
import { AlertRefused, deliveryBudget, DeliveryBudgetSpent } from "./TunnelErrors.ts"

export const AlertEvent = Schema.Literals(["tunnel.down", "tunnel.up", "tunnel.test"])
export type AlertEvent = typeof AlertEvent.Type

/** Longest time without a sign of life before a report: a week. */
export const maxThresholdMinutes = 10_080

/** Characters of the address of a receiver. */
export const maxReceiverLength = 2048

/** As its owner sees it. `since`: when the present state began. */
export class Alert extends Schema.Class<Alert>("Alert")({
  webhook_url: Schema.String,
  threshold_minutes: Count,
  format: AlertFormat,
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

/** The longest token of a receiver, in characters. */
const maxTokenLength = 512

/** What an owner asks for. */
export interface AskedAlert {
  readonly webhookUrl: string
  readonly thresholdMinutes: number
  /** Absent: `signed`. */
  readonly format?: AlertFormat | undefined
  /** What the receiver takes in `Authorization: Bearer`; absent or empty: the one that is stored for the same format. */
  readonly token?: Redacted.Redacted | undefined
}

/** A usable alert: the receiver as an absolute URL, and the threshold in seconds. */
export interface AlertSettings {
  readonly webhookUrl: string
  readonly thresholdSeconds: number
  readonly format: AlertFormat
  /** Null: as it is. */
  readonly token: Redacted.Redacted | null
}

const loopback = new Set(["127.0.0.1", "localhost", "[::1]"])

const refused = (field: AlertRefused["field"], reason: string) => Result.fail(new AlertRefused({ field, reason }))
const unusable = (reason: string) => refused("webhook_url", reason)

const receiverOf = (text: string): Result.Result<string, AlertRefused> => {
  const url = text.length <= maxReceiverLength ? URL.parse(text) : null
  if (url === null) return unusable(`must be an absolute URL of at most ${maxReceiverLength} characters`)
  if (url.username !== "" || url.password !== "") return unusable("must not carry a user name or a password")
  if (url.protocol === "https:" || (url.protocol === "http:" && loopback.has(url.hostname))) return Result.succeed(text)
  return unusable("must be https, or http to 127.0.0.1, localhost or [::1]")
}

/**
 * What an owner asks for; `hasToken`: a token is stored for the same format. Whether the receiver's address is a private one is decided where it is called.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { alertSettings } from "@catenet/domain/tunnels/Alert"
 *
 * const asked = { webhookUrl: " https://hooks.example/x ", thresholdMinutes: 5 }
 * assert.deepEqual(Result.getOrThrow(alertSettings(asked, false)), {
 *   webhookUrl: "https://hooks.example/x",
 *   thresholdSeconds: 300,
 *   format: "signed",
 *   token: null
 * })
 * assert.ok(Result.isFailure(alertSettings({ ...asked, webhookUrl: "http://hooks.example/x" }, false)))
 * assert.ok(Result.isFailure(alertSettings({ ...asked, thresholdMinutes: 0 }, false)))
 * ```
 */
export const alertSettings = (asked: AskedAlert, hasToken: boolean): Result.Result<AlertSettings, AlertRefused> =>
  Result.gen(function* () {
    const { format = "signed", thresholdMinutes } = asked
    const webhookUrl = yield* receiverOf(asked.webhookUrl.trim())
    const why = unfit(format, webhookUrl)
    if (why !== undefined) return yield* unusable(why)
    if (!Number.isInteger(thresholdMinutes) || thresholdMinutes < 1 || thresholdMinutes > maxThresholdMinutes)
      return yield* refused("threshold_minutes", `must be a whole number from 1 to ${maxThresholdMinutes}`)
    const token = Redacted.value(asked.token ?? Redacted.make("")).trim()
    if (!new RegExp(`^[\\x21-\\x7e]{0,${maxTokenLength}}$`).test(token))
      return yield* refused("token", `must be at most ${maxTokenLength} printable ASCII characters without blanks`)
    if (token !== "" && tokenOf[format] === "none") return yield* refused("token", `is of no use to ${format}`)
    if (token === "" && tokenOf[format] === "required" && !hasToken)
      return yield* refused("token", `is what ${format} needs to take a message`)
    const thresholdSeconds = thresholdMinutes * 60
    return { webhookUrl, thresholdSeconds, format, token: token === "" ? null : Redacted.make(token) }
  })

/** Seconds over which the budget of deliveries counts. */
export const deliveryBudgetSeconds = 3600

/**
 * Deliveries an account has left. `deliveredAt`: unix seconds of its deliveries that succeeded or failed; one delivery with
 * several attempts counts once, a skipped one not at all.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { deliveriesLeft } from "@catenet/domain/tunnels/Alert"
 *
 * assert.equal(deliveriesLeft([], 5000), 20)
 * assert.equal(deliveriesLeft([1400, 1401], 5000), 19)
 * ```
 */
export const deliveriesLeft = (deliveredAt: ReadonlyArray<number>, now: number): number =>
  Math.max(0, deliveryBudget - deliveredAt.filter((at) => now - at < deliveryBudgetSeconds).length)

/**
 * Takes one delivery out of the budget for `now`. The refusal says when the oldest delivery leaves the hour.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { takeDelivery } from "@catenet/domain/tunnels/Alert"
 *
 * const twenty = Array.from({ length: 20 }, (_, n) => 1000 + n)
 * assert.ok(Result.isSuccess(takeDelivery(twenty, 4600)))
 * assert.equal(Result.getOrThrow(Result.flip(takeDelivery(twenty, 4599))).retry_after, 1)
 * ```
 */
export const takeDelivery = (
  deliveredAt: ReadonlyArray<number>,
  now: number
): Result.Result<void, DeliveryBudgetSpent> => {
  if (deliveriesLeft(deliveredAt, now) > 0) return Result.void
  const oldest = Math.min(...deliveredAt.filter((at) => now - at < deliveryBudgetSeconds))
  return Result.fail(new DeliveryBudgetSpent({ retry_after: Math.max(1, oldest + deliveryBudgetSeconds - now) }))
}

/** Seconds to wait before the second and the third attempt. */
export const retryPauses: ReadonlyArray<number> = [2, 8]

/** What follows an attempt. */
export type AfterAttempt =
  { readonly _tag: "Delivered" } | { readonly _tag: "RetryIn"; readonly seconds: number } | { readonly _tag: "Failed" }

/**
 * What follows attempt number `attempt` (from 1), given the receiver's status, or null when it could not be reached. Any
 * 2xx is a success. A test message is tried once, without pauses.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { afterAttempt } from "@catenet/domain/tunnels/Alert"
 *
 * assert.deepEqual(afterAttempt(1, 204), { _tag: "Delivered" })
 * assert.deepEqual(afterAttempt(1, null), { _tag: "RetryIn", seconds: 2 })
 * assert.deepEqual(afterAttempt(3, 500), { _tag: "Failed" })
 * assert.deepEqual(afterAttempt(1, 500, []), { _tag: "Failed" })
 * ```
 */
export const afterAttempt = (
  attempt: number,
  status: number | null,
  pauses: ReadonlyArray<number> = retryPauses
): AfterAttempt => {
  if (status !== null && status >= 200 && status <= 299) return { _tag: "Delivered" }
  const seconds = pauses[attempt - 1]
  return seconds === undefined ? { _tag: "Failed" } : { _tag: "RetryIn", seconds }
}
