/**
 * The payment provider's signed notice (section 16.1). A captured notice cannot be replayed after 300 s; within that time, the
 * payment's state prevents it.
 */
import { Data, Redacted, Result, Schema } from "effect"
import * as Bytes from "../Bytes.ts"
import * as ConstantTime from "../ConstantTime.ts"
import * as Hex from "../Hex.ts"
import type { Seconds } from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import type { Suite } from "../Suite.ts"

/** Seconds a notice may be old or early, both ends included. */
export const window = 300n

/** Why a notice is refused, in the order of the checks, and the status to answer with. */
export class WebhookRefused extends Data.TaggedError("WebhookRefused")<{
  readonly reason:
    "MissingHeader" | "BadTimestamp" | "Stale" | "MalformedSignature" | "Mismatch" | "BadBody" | "BadPaymentId"
  readonly status: 400 | 401
}> {
  override get message() {
    return `the payment notice is refused: ${this.reason}`
  }
}

/** What the request carries. */
export interface Request {
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: Uint8Array
}

const refused = (reason: WebhookRefused["reason"], status: 400 | 401) =>
  Result.fail(new WebhookRefused({ reason, status }))

const digest = (suite: Suite, secret: Redacted.Redacted<string>, timestamp: bigint, body: Uint8Array): Uint8Array =>
  suite.hmacSha256(Bytes.fromText(Redacted.value(secret)), Bytes.concat(Bytes.fromText(`${timestamp}.`), body))

/**
 * The hex signature of a body at a time.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
 * import { portable } from "@catenet/crypto/portable"
 *
 * strictEqual(PaymentWebhook.sign(portable, Redacted.make("secret"), 1000000n, new Uint8Array(0)).length, 64)
 * ```
 */
export const sign = (suite: Suite, secret: Redacted.Redacted<string>, timestamp: bigint, body: Uint8Array): string =>
  Hex.encode(digest(suite, secret, timestamp, body))

/**
 * Whether a request is fresh and signed with the shared secret. The body is not parsed.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const secret = Redacted.make("secret")
 * const body = new TextEncoder().encode("{}")
 * const request = { timestamp: "1000", signature: PaymentWebhook.sign(portable, secret, 1000n, body), body }
 * const at = (now) => Result.isSuccess(PaymentWebhook.verify(portable, secret, request, now))
 * deepStrictEqual([at(700), at(1300), at(1301)], [true, true, false])
 * ```
 */
export const verify = (
  suite: Suite,
  secret: Redacted.Redacted<string>,
  request: Request,
  now: Seconds
): Result.Result<void, WebhookRefused> => {
  if (request.timestamp === undefined || request.signature === undefined) return refused("MissingHeader", 400)
  if (!/^\d{1,20}$/.test(request.timestamp)) return refused("BadTimestamp", 400)
  const timestamp = BigInt(request.timestamp)
  if (now > timestamp + window || now < timestamp - window) return refused("Stale", 401)
  const presented = Hex.decode(request.signature.trim())
  if (Result.isFailure(presented)) return refused("MalformedSignature", 401)
  return ConstantTime.equal(presented.success, digest(suite, secret, timestamp, request.body))
    ? Result.succeed(undefined)
    : refused("Mismatch", 401)
}

const notice = JsonField.form("payment notice", Schema.Struct({ payment: Schema.String, status: Schema.String }))

/**
 * The payment a verified body confirms: its id of 32 bytes, or `undefined` for a notice of another status, which is
 * answered with 200 and has no effect.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
 *
 * const body = new TextEncoder().encode('{"payment":"?","status":"failed"}')
 * strictEqual(Result.getOrThrow(PaymentWebhook.confirmedPayment(body)), undefined)
 * ```
 */
export const confirmedPayment = (body: Uint8Array): Result.Result<Uint8Array | undefined, WebhookRefused> => {
  const read = Result.flatMap(Bytes.toText(body), notice.parse)
  if (Result.isFailure(read)) return refused("BadBody", 400)
  if (read.success.status !== "succeeded") return Result.succeed(undefined)
  const payment = Hex.decode(read.success.payment, 32)
  return Result.isSuccess(payment) ? Result.succeed(payment.success) : refused("BadPaymentId", 400)
}
