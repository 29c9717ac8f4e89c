import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { resetBudget } from "../../src/gelb/ResetBudget.ts"
import { Counters } from "../../src/observe/Counters.ts"

const offender = "192.0.2.1"

const budget = Effect.gen(function* () {
  const clock = { now: 0 }
  const counters = yield* Counters
  return { clock, counters, ...resetBudget(2, counters, () => clock.now) }
})

describe("the budget of resets of an address block", () => {
  it.effect(
    "is exceeded by one reset more than its limit in a minute, which refuses new connections for sixty seconds",
    () =>
      Effect.gen(function* () {
        const { clock, counters, refuses, spend } = yield* budget
        assert.deepStrictEqual([spend(offender), spend(offender), refuses(offender)], [true, true, false])
        assert.isFalse(spend(offender))
        clock.now = 59_999
        assert.isTrue(refuses(offender))
        clock.now = 60_000
        assert.isFalse(refuses(offender))
        assert.isTrue(spend(offender), "the budget is full again")
        assert.deepStrictEqual([counters.resetBudgetsExceeded, counters.resettingVisitorsRefused], [1, 1])
      }).pipe(Effect.provide(Counters.layer))
  )

  it.effect("counts IPv6 by /64, and refuses no other address", () =>
    Effect.gen(function* () {
      const { refuses, spend } = yield* budget
      for (const end of ["1", "2", "3"]) spend(`2001:db8::${end}`)
      assert.isTrue(refuses("2001:db8::4"))
      assert.isFalse(refuses("2001:db8:0:1::4"))
      assert.isFalse(refuses(offender))
    }).pipe(Effect.provide(Counters.layer))
  )

  it.effect("refuses an address for sixty seconds from its last excess", () =>
    Effect.gen(function* () {
      const { clock, refuses, spend } = yield* budget
      for (let count = 0; count < 3; count++) spend(offender)
      clock.now = 29_000
      assert.isFalse(spend(offender), "half a reset has come back")
      clock.now = 60_000
      assert.isTrue(refuses(offender))
      clock.now = 89_000
      assert.isFalse(refuses(offender))
    }).pipe(Effect.provide(Counters.layer))
  )
})
