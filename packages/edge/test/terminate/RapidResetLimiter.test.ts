import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Counters } from "../../src/observe/Counters.ts"
import { rapidResetLimit } from "../../src/terminate/RapidResetLimiter.ts"

const [tunnel, other] = ["t", "u"]
const offender = "192.0.2.1"

describe("the budget of resets", () => {
  it.effect("is exceeded by one reset more than its limit in a minute, and fills up again", () =>
    Effect.gen(function* () {
      const clock = { now: 0 }
      const counters = yield* Counters
      const { spend } = rapidResetLimit(2, counters, () => clock.now)
      assert.deepStrictEqual([spend(tunnel, offender), spend(tunnel, offender)], [true, true])
      assert.isFalse(spend(tunnel, offender))
      clock.now = 29_999
      assert.isFalse(spend(tunnel, offender))
      clock.now = 60_000
      assert.isTrue(spend(tunnel, offender))
      assert.strictEqual(counters.resetBudgetsExceeded, 2)
    }).pipe(Effect.provide(Counters.layer))
  )

  it.effect("is that of one address at one tunnel", () =>
    Effect.gen(function* () {
      const { spend } = rapidResetLimit(1, yield* Counters, () => 0)
      spend(tunnel, offender)
      assert.isFalse(spend(tunnel, offender))
      assert.isTrue(spend(other, offender), "another tunnel")
      assert.isTrue(spend(tunnel, "192.0.2.2"), "another address")
    }).pipe(Effect.provide(Counters.layer))
  )
})
