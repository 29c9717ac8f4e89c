import { native } from "@catenet/crypto/native"
import * as AlertWebhook from "@catenet/crypto/webhook/AlertWebhook"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { createHmac } from "node:crypto"
import * as any from "../arbitraries.ts"
import { flipped, runs } from "../suite/arbitraries.ts"

const secret = Redacted.make("0123456789abcdef".repeat(4))

const reason = (verified: Result.Result<unknown, PaymentWebhook.WebhookRefused>) =>
  Result.isSuccess(verified) ? "ok" : verified.failure.reason

describe("a payment notice", () => {
  it.prop(
    "verifies within 300 seconds of its time, unchanged and under its secret",
    {
      body: any.anyBytes(60),
      timestamp: any.integer(1000, 2_000_000_000),
      age: any.integer(-310, 310),
      bit: any.integer(0, 500)
    },
    ({ body, timestamp, age, bit }) => {
      const signature = PaymentWebhook.sign(native, secret, BigInt(timestamp), body)
      const request = { timestamp: String(timestamp), signature, body }
      const at = (changed: Partial<PaymentWebhook.Request>, by = secret) =>
        reason(PaymentWebhook.verify(native, by, { ...request, ...changed }, timestamp + age))
      const stale = Math.abs(age) > 300
      assert.strictEqual(at({}), stale ? "Stale" : "ok")
      if (stale) return
      assert.strictEqual(at({ body: Uint8Array.of(...body, 0) }), "Mismatch")
      if (body.length > 0) assert.strictEqual(at({ body: flipped(body, bit) }), "Mismatch")
      assert.strictEqual(at({}, Redacted.make("other")), "Mismatch")
      assert.strictEqual(at({ signature: signature.slice(2) }), "Mismatch")
      assert.strictEqual(at({ signature: "abc" }), "MalformedSignature")
      assert.strictEqual(at({ signature: undefined }), "MissingHeader")
      for (const bad of ["", "-1", "+1", "1.5", "1e3", " 1", "٣"])
        assert.strictEqual(at({ timestamp: bad }), "BadTimestamp")
    },
    runs
  )
  it("confirms a payment only by a body of the right shape", () => {
    const confirmed = (text: string) => reason(PaymentWebhook.confirmedPayment(new TextEncoder().encode(text)))
    assert.strictEqual(confirmed(`{"payment":"${"ab".repeat(32)}","status":"succeeded","more":[1]}`), "ok")
    assert.strictEqual(confirmed('{"payment":"ab","status":"succeeded"}'), "BadPaymentId")
    for (const bad of ["", "[]", '{"status":"succeeded"}', '{"payment":1,"status":"failed"}']) {
      assert.strictEqual(confirmed(bad), "BadBody")
    }
  })
})

describe("a refused payment notice", () => {
  it("is answered by its status", () => {
    const body = new Uint8Array(1)
    const request = { timestamp: "1000", signature: PaymentWebhook.sign(native, secret, 1000n, body), body }
    const status = (changed: Partial<PaymentWebhook.Request>, now = 1000) =>
      Result.match(PaymentWebhook.verify(native, secret, { ...request, ...changed }, now), {
        onSuccess: () => 200,
        onFailure: (error) => error.status
      })
    assert.deepStrictEqual(
      [status({}), status({ timestamp: undefined }), status({ timestamp: "x" }), status({}, 1301)],
      [200, 400, 400, 401]
    )
    assert.deepStrictEqual([status({ signature: "x" }), status({ body: new Uint8Array(2) })], [401, 401])
    const confirmed = (text: string) =>
      Result.getOrThrow(Result.flip(PaymentWebhook.confirmedPayment(new TextEncoder().encode(text)))).status
    assert.strictEqual(confirmed("{}"), 400)
    assert.strictEqual(confirmed('{"payment":"ab","status":"succeeded"}'), 400)
  })
})

describe("a tunnel alert", () => {
  it.prop(
    "is signed for our receivers and for those of Standard Webhooks",
    { name: any.text, tunnelId: any.text, id: any.oneOf(["msg_1", "msg_2"]), since: any.u64, sentAt: any.u64 },
    ({ name, tunnelId, id, since, sentAt }) => {
      const alert = { event: "tunnel.up", tunnelId, name, since, thresholdSecs: 300n, sentAt } as const
      const { body, headers } = AlertWebhook.sign(native, secret, id, alert)
      const text = Redacted.value(secret)
      const own = createHmac("sha256", text).update(`${sentAt}.${body}`).digest("hex")
      assert.strictEqual(headers["x-ct-signature"], `sha256=${own}`)
      const standardKey = Buffer.from(
        Redacted.value(AlertWebhook.standardSecret(secret)).replace("whsec_", ""),
        "base64"
      )
      const standard = createHmac("sha256", standardKey).update(`${id}.${sentAt}.${body}`).digest("base64")
      assert.strictEqual(headers["webhook-signature"], `v1,${standard}`)
      assert.isTrue(AlertWebhook.verify(native, secret, String(sentAt), `sha256=${own}`, body))
      assert.isFalse(AlertWebhook.verify(native, secret, `${sentAt}0`, `sha256=${own}`, body))
      assert.isFalse(AlertWebhook.verify(native, secret, String(sentAt), own, body))
      assert.isFalse(AlertWebhook.verify(native, secret, String(sentAt), name, body))
    },
    runs
  )
  it("has these headers, and this secret for receivers of Standard Webhooks", () => {
    const times = { since: 1n, thresholdSecs: 300n, sentAt: 2n }
    const { body, headers } = AlertWebhook.sign(native, secret, "msg_1", {
      event: "tunnel.down",
      tunnelId: "ab",
      name: "n",
      ...times
    })
    assert.deepStrictEqual(Object.keys(headers), [
      "content-type",
      "x-ct-timestamp",
      "x-ct-signature",
      "webhook-id",
      "webhook-timestamp",
      "webhook-signature"
    ])
    assert.deepInclude(headers, {
      "content-type": "application/json",
      "x-ct-timestamp": "2",
      "webhook-id": "msg_1",
      "webhook-timestamp": "2"
    })
    assert.strictEqual(Redacted.value(AlertWebhook.standardSecret(Redacted.make("a"))), "whsec_YQ==")
    const [own = ""] = [headers["x-ct-signature"]]
    assert.isTrue(AlertWebhook.verify(native, secret, "2", own, body))
    assert.isFalse(AlertWebhook.verify(native, secret, "2", own, `${body}\ud800`))
    assert.isFalse(AlertWebhook.verify(native, secret, "\ud800", own, body))
  })
})
