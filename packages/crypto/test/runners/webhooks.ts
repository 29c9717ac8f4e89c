import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import * as AlertWebhook from "@catenet/crypto/webhook/AlertWebhook"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { assert } from "@effect/vitest"
import { Redacted, Result } from "effect"
import type { Runners } from "./runner.ts"

const words: Readonly<Record<string, string>> = {
  Stale: "stale",
  Mismatch: "mismatch",
  MalformedSignature: "malformed"
}

export const webhooks: Runners = {
  "payment-webhook": ({ input, expect }, suite) => {
    const secret = Redacted.make<string>(input.secret)
    const body = Bytes.fromText(input.body)
    const request = { timestamp: input.timestamp ?? undefined, signature: input.signature ?? undefined, body }
    const verified = PaymentWebhook.verify(suite, secret, request, input.now)
    if (Result.isFailure(verified)) {
      assert.strictEqual(verified.failure.status, expect.status)
      assert.strictEqual(words[verified.failure.reason], expect.signature)
      return
    }
    assert.strictEqual("ok", expect.signature)
    if (expect.status === undefined) return
    const payment = Result.getOrThrow(PaymentWebhook.confirmedPayment(body))
    const named = JSON.parse(input.body)
    assert.strictEqual(expect.status, 200)
    assert.strictEqual(payment && Hex.encode(payment), expect.credits === 0 ? undefined : named.payment)
    if (expect.signed_text !== undefined) {
      const mac = suite.hmacSha256(Bytes.fromText(input.secret), Bytes.fromText(expect.signed_text))
      assert.strictEqual(Hex.encode(mac), input.signature)
      assert.strictEqual(PaymentWebhook.sign(suite, secret, BigInt(input.timestamp), body), input.signature)
    }
  },
  "tunnel-alert": ({ input, expect }, suite) => {
    const secret = Redacted.make<string>(input.secret)
    const { event, tunnel_id: tunnelId, name, since, threshold_secs, sent_at } = input.event
    const { body, headers } = AlertWebhook.sign(suite, secret, "msg_1", {
      event,
      tunnelId,
      name,
      since: BigInt(since),
      thresholdSecs: BigInt(threshold_secs),
      sentAt: BigInt(sent_at)
    })
    assert.strictEqual(body, expect.body)
    assert.strictEqual(headers["x-ct-timestamp"], expect.header_timestamp)
    assert.strictEqual(headers["x-ct-signature"], expect.header_signature)
    assert.isTrue(AlertWebhook.verify(suite, secret, expect.header_timestamp, expect.header_signature, body))
    assert.isFalse(AlertWebhook.verify(suite, secret, expect.header_timestamp, expect.header_signature, `${body} `))
  }
}
