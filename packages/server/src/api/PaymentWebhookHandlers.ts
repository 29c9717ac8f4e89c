/** The handler of the `paymentWebhook` group: whether the provider said it, and only now, is decided before it is read. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { WebhookSignatureRefused } from "@catenet/domain/billing/CreditErrors"
import { PaymentId } from "@catenet/domain/values/Ids"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Result, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Payments } from "../billing/Payments.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"

const paymentFrom = Schema.decodeSync(PaymentId)

/** Without a shared secret nothing can be signed with it: every event is refused. */
export const PaymentWebhookHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "paymentWebhook",
  Effect.fn(function* (handlers) {
    const payments = yield* Payments
    const { paymentWebhookSecret } = yield* Settings
    return handlers.handle("confirm", ({ headers, payload }) =>
      Effect.gen(function* () {
        if (paymentWebhookSecret === undefined) return yield* new WebhookSignatureRefused()
        const timestamp = String(headers["x-ct-webhook-timestamp"])
        const request = { timestamp, signature: headers["x-ct-webhook-signature"], body: payload }
        const verdict = PaymentWebhook.verify(native, paymentWebhookSecret, request, yield* unixSeconds)
        if (Result.isFailure(verdict)) return yield* new WebhookSignatureRefused()
        const payment = PaymentWebhook.confirmedPayment(payload)
        if (Result.isFailure(payment)) {
          const errors = [{ path: [], message: "Expected a payment notice: payment of 64 hex digits, and status" }]
          return yield* new MalformedRequest({ errors })
        }
        if (payment.success !== undefined) yield* payments.confirm(paymentFrom(Hex.encode(payment.success)))
      })
    )
  })
)
