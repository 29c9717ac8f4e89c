/** Accounts and payments as operators and the payment provider see them. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  AccountUnknown,
  CreditsOutOfRange,
  InsufficientCredits,
  PaymentUnknown,
  PriceBelowOne,
  WebhookSignatureRefused
} from "../billing/CreditErrors.ts"
import { PaymentIntent } from "../billing/Credits.ts"
import { AccountId, IdempotencyKey, PaymentId } from "../values/Ids.ts"
import { Count, CountFromText } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { IdempotencyKeyReused, LimitReached } from "../values/RequestErrors.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AdminAccess, RateLimit } from "./Access.ts"
import { idempotencyHeader } from "./Idempotency.ts"
import { BodyLimit, ReadsBody, ReadsParameters, maxListBytes } from "./RequestReading.ts"

export class BillingApi extends HttpApiGroup.make("billing")
  .add(
    HttpApiEndpoint.post("openAccount", "/accounts/open", {
      headers: idempotencyHeader,
      success: Schema.Struct({ account: AccountId })
    }).middleware(ReadsParameters),
    HttpApiEndpoint.get("getAccount", "/accounts/:account", {
      params: { account: AccountId },
      success: Schema.Struct({ account: AccountId, balance: Count }),
      error: AccountUnknown
    }).middleware(ReadsParameters),
    HttpApiEndpoint.post("intendPayment", "/payment/intent", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ account: AccountId, credits: Schema.Int }),
      success: Schema.Struct({ payment: PaymentId }),
      error: [CreditsOutOfRange, AccountUnknown, IdempotencyKeyReused, LimitReached]
    }).middleware(ReadsBody),
    HttpApiEndpoint.get("getPayment", "/payment/intent/:payment", {
      params: { payment: PaymentId },
      success: PaymentIntent,
      error: PaymentUnknown
    }).middleware(ReadsParameters),
    HttpApiEndpoint.post("issue", "/billing/issue", {
      headers: idempotencyHeader,
      payload: Schema.Struct({
        account: AccountId,
        price: Schema.Int,
        idempotency_key: Schema.optionalKey(IdempotencyKey)
      }),
      success: Schema.Struct({ token: RoutingToken }),
      error: [PriceBelowOne, InsufficientCredits, AccountUnknown, IdempotencyKeyReused]
    }).middleware(ReadsBody)
  )
  .middleware(AdminAccess)
  .middleware(RateLimit) {}

/** The provider's event: bytes as they were signed, then the headers that sign them. */
export class PaymentWebhookApi extends HttpApiGroup.make("paymentWebhook")
  .add(
    HttpApiEndpoint.post("confirm", "/payment/webhook", {
      headers: {
        "x-ct-webhook-timestamp": CountFromText,
        "x-ct-webhook-signature": Schema.String.check(pattern(/^[ \t]*[0-9a-fA-F]{64}[ \t]*$/u, "64 hex digits"))
      },
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/json" })),
      success: HttpApiSchema.Empty(200),
      error: [WebhookSignatureRefused, PaymentUnknown]
    })
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
  )
  .middleware(RateLimit) {}
