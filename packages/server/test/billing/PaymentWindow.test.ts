/** Domain says the sentence and crypto makes the check, and neither may import the other. */
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { WebhookSignatureRefused } from "@catenet/domain/billing/CreditErrors"
import { assert, it } from "vitest"

it("the refusal of a payment notice names the window in which its time is taken", () => {
  assert.include(new WebhookSignatureRefused().message, `more than ${PaymentWebhook.window} s`)
})
