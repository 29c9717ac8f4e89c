import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as CarrierHealth from "../../src/tunnel/CarrierHealth.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("backoff", () => {
  it.effect.prop(
    "pauses between half and the whole of a ceiling that doubles up to its cap",
    { baseMillis: whole(100, 5000), extra: whole(0, 60_000), attempts: whole(1, 40) },
    ({ baseMillis, extra, attempts }) =>
      Effect.gen(function* () {
        const settings = { baseMillis, maxMillis: baseMillis + extra, maxAttempts: undefined }
        const backoff = CarrierHealth.makeRegistrationBackoff(settings)
        let before = 0
        for (let attempt = 0; attempt < attempts; attempt++) {
          const ceiling = CarrierHealth.ceiling(settings, attempt)
          assert.isAtLeast(ceiling, before)
          assert.isAtMost(ceiling, settings.maxMillis)
          const pause = (yield* backoff.next) ?? Number.NaN
          assert.isAtLeast(pause, ceiling / 2)
          assert.isAtMost(pause, ceiling)
          before = ceiling
        }
        backoff.lost()
        assert.strictEqual(yield* backoff.next, 0)
        assert.isAtMost((yield* backoff.next) ?? Number.NaN, baseMillis)
      })
  )

  it.effect("makes one attempt at once after a registration that held", () =>
    Effect.gen(function* () {
      const backoff = CarrierHealth.makeRegistrationBackoff({ baseMillis: 100, maxMillis: 100, maxAttempts: undefined })
      backoff.lost()
      assert.strictEqual(yield* backoff.next, 0)
      assert.isAtLeast((yield* backoff.next) ?? 0, 50)
    })
  )

  it.effect("ends when the attempts are used up, and a registration that held gives them back", () =>
    Effect.gen(function* () {
      const backoff = CarrierHealth.makeRegistrationBackoff({ baseMillis: 100, maxMillis: 100, maxAttempts: 2 })
      for (let round = 0; round < 2; round++) {
        assert.isDefined(yield* backoff.next)
        assert.isDefined(yield* backoff.next)
        assert.isUndefined(yield* backoff.next)
        backoff.lost()
        assert.strictEqual(yield* backoff.next, 0)
      }
    })
  )
})
