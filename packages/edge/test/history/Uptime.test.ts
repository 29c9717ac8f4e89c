import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { share } from "@catenet/edge/history/Uptime"

const Second = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })))

describe("uptime", () => {
  it("counts what lies in the window", () => {
    assert.strictEqual(share([], 100, 1_000), 0)
    assert.strictEqual(share([{ from: 0, until: null }], 100, 1_000), 100)
    assert.strictEqual(share([{ from: 950, until: null }], 100, 1_000), 50)
    assert.strictEqual(share([{ from: 880, until: 910 }], 100, 1_000), 10)
    assert.strictEqual(share([{ from: 0, until: 900 }], 100, 1_000), 0)
  })

  it.prop(
    "is a share of disjoint spans: never below 0 or above 100, and additive",
    [Second, Second, Second],
    (cuts) => {
      const [a = 0, b = 0, c = 0] = cuts.toSorted((x, y) => x - y)
      const whole = share([{ from: a, until: c }], 50_000, 100_000)
      const parts = share(
        [
          { from: a, until: b },
          { from: b, until: c }
        ],
        50_000,
        100_000
      )
      assert.isTrue(whole >= 0 && whole <= 100)
      assert.closeTo(parts, whole, 1e-9)
    }
  )
})
