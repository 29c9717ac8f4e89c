import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { listen } from "../../src/tunnel/EdgeLink.ts"

describe("the liveness tick", () => {
  it.effect("runs every 15 seconds, and counts what has arrived since the last one", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let received = 0
      const heard: Array<number> = []
      const fiber = yield* Effect.forkChild(
        listen({ received: () => received }, { heard: () => void heard.push(clock.currentTimeMillisUnsafe()) })
      )
      yield* TestClock.adjust("1 second")
      received = 9
      yield* TestClock.adjust("13999 millis")
      assert.deepStrictEqual(heard, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(heard, [15_000])
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(heard, [15_000], "silence is not life")
      received = 10
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(heard, [15_000, 90_000])
      yield* Fiber.interrupt(fiber)
    })
  )
})
