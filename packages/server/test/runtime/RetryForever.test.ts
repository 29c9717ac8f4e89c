import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { retryForever } from "../../src/runtime/RetryForever.ts"

describe("work without an end", () => {
  it.effect("goes on after failures and faults, a second later, and tells of each", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const done = yield* Deferred.make<void>()
      let rounds = 0
      const round = Effect.suspend((): Effect.Effect<void, string> => {
        rounds++
        if (rounds === 2) return Effect.fail("refused")
        if (rounds === 4) return Effect.die(new Error("a fault"))
        if (rounds === 5)
          return Effect.andThen(Effect.fail("both"), Effect.void).pipe(Effect.ensuring(Effect.die("of them")))
        return rounds === 6 ? Effect.andThen(Deferred.succeed(done, undefined), Effect.never) : Effect.void
      })
      const fiber = yield* retryForever("Counting")(round).pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(message))])),
        Effect.forkChild
      )
      yield* TestClock.adjust("2999 millis")
      assert.strictEqual(rounds, 5)
      yield* TestClock.adjust("1 millis")
      yield* Deferred.await(done)
      assert.lengthOf(logged, 3)
      assert.include(String(logged[0]), "Counting failed and is tried again.")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(rounds, 6)
    })
  )
})
