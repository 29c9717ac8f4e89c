import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { afterAttempt, deliveriesLeft, retryPauses } from "@catenet/domain/tunnels/AlertDelivery"
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
    "whoever asks before every delivery never exceeds the budget in any hour",
    [Schema.Array(between(0, 600)).pipe(Schema.check(Schema.isMinLength(60), Schema.isMaxLength(90)))],
    ([waits]) => {
      const sent: Array<number> = []
      let now = 0
      for (const wait of waits) {
        now += wait
        const recent = sent.filter((at) => at > now - 3600).length
        assert.strictEqual(deliveriesLeft(sent, now), 20 - recent)
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
})
