/** Refusals of credits and payments. */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

/** What a routing token costs, in credits. */
export const tokenPrice = 1

/** The price is below that of one token. */
export class PriceBelowOne extends Problem<PriceBelowOne>()(
  "PriceBelowOne",
  {
    status: 400,
    title: "Price below one",
    detail: ({ price }) => `The price must be at least ${tokenPrice} credit, not ${price}.`
  },
  { price: Schema.Int }
) {}

/** The balance does not cover the price; nothing was debited. */
export class InsufficientCredits extends Problem<InsufficientCredits>()(
  "InsufficientCredits",
  {
    status: 402,
    title: "Not enough credits",
    detail: ({ balance, requested }) => `Your balance is ${balance} credits; ${requested} were requested.`
  },
  { balance: Count, requested: Schema.Int }
) {}

/** Credits are bought in whole numbers of at least 1. */
export class CreditsOutOfRange extends Problem<CreditsOutOfRange>()(
  "CreditsOutOfRange",
  {
    status: 400,
    title: "Credits out of range",
    detail: ({ credits }) => `Buy at least 1 credit, not ${credits}.`
  },
  { credits: Schema.Int }
) {}

/** No account has this id. */
export class AccountUnknown extends Problem<AccountUnknown>()("AccountUnknown", {
  status: 404,
  title: "Account unknown",
  detail: () => "No account has this id."
}) {}

/** No payment intent has this id. */
export class PaymentUnknown extends Problem<PaymentUnknown>()("PaymentUnknown", {
  status: 404,
  title: "Payment unknown",
  detail: () => "No payment intent has this id."
}) {}

/** The event is not signed with the shared secret, or is too old or too new. */
export class WebhookSignatureRefused extends Problem<WebhookSignatureRefused>()("WebhookSignatureRefused", {
  status: 401,
  title: "Signature refused",
  detail: () => "The event is not signed with the shared secret, or its timestamp is off by more than 300 s."
}) {}
