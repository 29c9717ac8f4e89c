/** Handlers of the `billing`, `paymentWebhook` and `credits` groups. */
import { native } from "@catenet/crypto/native"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import * as Hex from "@catenet/crypto/Hex"
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { WebhookSignatureRefused } from "@catenet/domain/errors/Credits"
import { MalformedRequest } from "@catenet/domain/errors/Requests"
import { PaymentId } from "@catenet/domain/Ids"
import { Effect, Layer, Result, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { unixSeconds } from "../Now.ts"
import { Settings } from "../Settings.ts"
import { Credits } from "./Credits.ts"

const paymentFrom = Schema.decodeSync(PaymentId)

const billing = HttpApiBuilder.group(
  ControlPlaneApi,
  "billing",
  Effect.fnUntraced(function* (handlers) {
    const credits = yield* Credits
    return handlers.handleAll({
      openAccount: ({ headers }) => credits.open(headers["idempotency-key"]),
      getAccount: ({ params }) => credits.get(params.account),
      intendPayment: ({ headers, payload }) => credits.intend("operator", payload, headers["idempotency-key"]),
      getPayment: ({ params }) => credits.getIntent(params.payment),
      issue: ({ headers, payload: { account, idempotency_key, price } }) =>
        credits.issue("operator", account, price, { body: idempotency_key, header: headers["idempotency-key"] })
    })
  })
)

const mine = HttpApiBuilder.group(
  ControlPlaneApi,
  "credits",
  Effect.fnUntraced(function* (handlers) {
    const credits = yield* Credits
    return handlers.handleAll({
      account: () => Caller.use(({ subject }) => credits.mine(subject)),
      issue: ({ headers, payload: { idempotency_key, price } }) =>
        Caller.use(({ subject }) =>
          Effect.flatMap(credits.mine(subject), ({ account }) =>
            credits
              .issue(subject, account, price, { body: idempotency_key, header: headers["idempotency-key"] })
              .pipe(Effect.catchTag("AccountUnknown", (error) => Effect.die(error)))
          )
        ),
      listIssued: ({ query }) => Caller.use(({ subject }) => credits.listIssued(subject, query))
    })
  })
)

/** Without a shared secret nothing can be signed with it: every event is refused. */
const webhook = HttpApiBuilder.group(
  ControlPlaneApi,
  "paymentWebhook",
  Effect.fnUntraced(function* (handlers) {
    const credits = yield* Credits
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
        if (payment.success !== undefined) yield* credits.confirm(paymentFrom(Hex.encode(payment.success)))
      })
    )
  })
)

export const layer = Layer.mergeAll(billing, mine, webhook)
