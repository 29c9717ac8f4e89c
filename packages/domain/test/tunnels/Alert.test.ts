import {
  afterAttempt,
  alertSettings,
  type AskedAlert,
  deliveriesLeft,
  deliveryBudgetSeconds,
  maxThresholdMinutes,
  retryPauses,
  takeDelivery
} from "@catenet/domain/tunnels/Alert"
import { deliveryBudget, DeliveryBudgetSpent } from "@catenet/domain/tunnels/TunnelErrors"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import { between, often } from "../values/history.ts"

describe("alert delivery", () => {
  it("an hour holds twenty deliveries and forgets each after exactly an hour", () => {
    assert.strictEqual(deliveriesLeft([], 0), 20)
    assert.strictEqual(deliveriesLeft([1000], 1000 + 3599), 19)
    assert.strictEqual(deliveriesLeft([1000], 1000 + 3600), 20)
    assert.strictEqual(
      deliveriesLeft(
        Array.from({ length: 25 }, () => 1000),
        1000
      ),
      0
    )
  })

  it.prop(
    "an account that asks before every delivery never exceeds the budget in any hour",
    [Schema.Array(between(0, 600)).pipe(Schema.check(Schema.isMinLength(60), Schema.isMaxLength(90)))],
    ([waits]) => {
      const sent: Array<number> = []
      let now = 0
      for (const wait of waits) {
        now += wait
        const recent = sent.filter((at) => at > now - 3600).length
        assert.strictEqual(deliveriesLeft(sent, now), 20 - recent)
        assert.strictEqual(Result.isSuccess(takeDelivery(sent, now)), recent < 20)
        if (recent < 20) sent.push(now)
        assert.isTrue(sent.filter((at) => at > now - 3600).length <= 20)
      }
    },
    often
  )

  it("retries after two and after eight seconds, then gives up", () => {
    assert.deepStrictEqual(retryPauses, [2, 8])
    assert.deepStrictEqual(
      [1, 2, 3, 4].map((attempt) => afterAttempt(attempt, 503)),
      [{ _tag: "RetryIn", seconds: 2 }, { _tag: "RetryIn", seconds: 8 }, { _tag: "Failed" }, { _tag: "Failed" }]
    )
    assert.deepStrictEqual(afterAttempt(1, null), { _tag: "RetryIn", seconds: 2 })
    assert.deepStrictEqual(afterAttempt(1, null, []), { _tag: "Failed" })
  })

  it("any 2xx is a success, nothing else", () => {
    const success = [199, 200, 204, 299, 300, 302, 404].filter((status) => afterAttempt(1, status)._tag === "Delivered")
    assert.deepStrictEqual(success, [200, 204, 299])
  })

  it("a refusal says when the oldest delivery leaves the hour", () => {
    const spent = Array.from({ length: deliveryBudget }, (_, n) => 1000 + n)
    for (const [now, seconds] of [
      [1019, 3581],
      [4599, 1]
    ] as const) {
      assert.deepStrictEqual(takeDelivery(spent, now), Result.fail(new DeliveryBudgetSpent({ retry_after: seconds })))
    }
    assert.isTrue(Result.isSuccess(takeDelivery(spent, 1000 + deliveryBudgetSeconds)))
  })
})

const settings = (webhookUrl: string, thresholdMinutes: number, more: Partial<AskedAlert> = {}, hasToken = false) =>
  alertSettings({ webhookUrl, thresholdMinutes, ...more }, hasToken)
const field = (...of: Parameters<typeof settings>) => {
  const answer = settings(...of)
  return Result.isFailure(answer) ? answer.failure.field : undefined
}

describe("the settings of an alert", () => {
  it("accepts https anywhere and http to the own machine", () => {
    for (const url of [
      "https://hooks.example/x?y=1",
      "http://127.0.0.1:9/x",
      "http://localhost/",
      "http://[::1]:8080/"
    ])
      assert.isUndefined(field(url, 5), url)
    assert.deepStrictEqual(
      settings(" https://a.example ", 10_080),
      Result.succeed({ webhookUrl: "https://a.example", thresholdSeconds: 604_800, format: "signed", token: null })
    )
    assert.deepStrictEqual(
      settings("https://a.example", 1),
      Result.succeed({ webhookUrl: "https://a.example", thresholdSeconds: 60, format: "signed", token: null })
    )
  })

  it("refuses every other receiver", () => {
    for (const url of [
      "",
      "/hook",
      "hooks.example",
      "http://hooks.example",
      "http://127.0.0.2/",
      "http://localhost.example/",
      "ftp://a.example/",
      "javascript:alert(1)",
      "https://u@a.example/",
      "https://u:p@a.example/",
      "https://:p@a.example/",
      `https://a.example/${"x".repeat(2031)}`
    ])
      assert.strictEqual(field(url, 5), "webhook_url", url)
    assert.isUndefined(field(`https://a.example/${"x".repeat(2030)}`, 5))
  })

  it("refuses every other threshold", () => {
    assert.isUndefined(field("https://a.example", maxThresholdMinutes))
    for (const minutes of [0, 10_081, -5, 1.5, 1e21, Number.NaN])
      assert.strictEqual(field("https://a.example", minutes), "threshold_minutes", String(minutes))
  })

  it("wants of each format the address and the token that its receiver takes", () => {
    const room = "https://m.example/_matrix/client/v3/rooms/!a:m.example/send/m.room.message"
    const token = Redacted.make("syt_1")
    assert.strictEqual(field(room, 5, { format: "matrix" }), "token")
    assert.isUndefined(field(room, 5, { format: "matrix" }, true))
    assert.isUndefined(field(room, 5, { format: "matrix", token }))
    assert.strictEqual(field("https://m.example/room", 5, { format: "matrix", token }), "webhook_url")
    assert.isUndefined(field("https://ntfy.sh/a-b_9", 5, { format: "ntfy" }))
    assert.isUndefined(field("https://ntfy.sh/a", 5, { format: "ntfy", token }))
    for (const wrong of ["https://ntfy.sh/", "https://ntfy.sh/a.b", `https://ntfy.sh/${"a".repeat(65)}`])
      assert.strictEqual(field(wrong, 5, { format: "ntfy" }), "webhook_url", wrong)
    for (const format of ["signed", "slack", "discord"] as const) {
      assert.isUndefined(field("https://a.example/x", 5, { format, token: Redacted.make("") }))
      assert.strictEqual(field("https://a.example/x", 5, { format, token }), "token")
    }
    const long = (length: number) =>
      field("https://ntfy.sh/a", 5, { format: "ntfy", token: Redacted.make("x".repeat(length)) })
    assert.deepStrictEqual([long(512), long(513)], [undefined, "token"])
    assert.strictEqual(field("https://ntfy.sh/a", 5, { format: "ntfy", token: Redacted.make("a\r\nb") }), "token")
  })

  it("says why", () => {
    const reasons = (
      [
        ["x", 5],
        ["https://u@a.example", 5],
        ["http://a.example", 5],
        ["https://a.example", 0]
      ] as const
    ).map(([url, minutes]) => {
      const answer = settings(url, minutes)
      return Result.isFailure(answer) ? `${answer.failure.code} ${answer.failure.reason}` : ""
    })
    assert.deepStrictEqual(reasons, [
      "AlertRefused must be an absolute URL of at most 2048 characters",
      "AlertRefused must not carry a user name or a password",
      "AlertRefused must be https, or http to 127.0.0.1, localhost or [::1]",
      "AlertRefused must be a whole number from 1 to 10080"
    ])
  })
})
