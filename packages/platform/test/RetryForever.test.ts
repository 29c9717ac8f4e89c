import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { retryForever } from "../src/RetryForever.ts"

/** Runs the work for the life of a scope; gives what was logged, and how to close it. */
const start = Effect.fnUntraced(function* <E>(work: Effect.Effect<unknown, E>) {
  const logged: Array<string> = []
  const logger = Logger.make(
    ({ logLevel, message }) => void logged.push(`${logLevel} ${String(message).split(",")[0]}`)
  )
  const scope = yield* Scope.make()
  const fiber = yield* work.pipe(retryForever("Counting"), Effect.provide(Logger.layer([logger])), Effect.forkIn(scope))
  yield* TestClock.adjust(0)
  return { fiber, logged, close: Scope.close(scope, Exit.void) }
})

describe("work for the life of a program", () => {
  it.effect(
    "goes on at once after a round, and a second later after a failure or a defect, each of which is logged",
    () =>
      Effect.gen(function* () {
        let rounds = 0
        const round = Effect.suspend((): Effect.Effect<void, string> => {
          rounds++
          if (rounds === 2) return Effect.fail("refused")
          if (rounds === 4) return Effect.die(new Error("a fault"))
          if (rounds === 5)
            return Effect.andThen(Effect.fail("both"), Effect.void).pipe(Effect.ensuring(Effect.die("of them")))
          return rounds === 6 ? Effect.never : Effect.void
        })
        const { close, logged } = yield* start(round)
        assert.strictEqual(rounds, 2)
        yield* TestClock.adjust("2999 millis")
        assert.strictEqual(rounds, 5)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(rounds, 6)
        assert.deepStrictEqual(logged, [
          "Warn Counting failed and is tried again.",
          "Error Counting failed and is tried again.",
          "Error Counting failed and is tried again."
        ])
        yield* close
        yield* TestClock.adjust("20 seconds")
        assert.strictEqual(rounds, 6)
      })
  )

  it.effect("ends with its scope, and logs nothing", () =>
    Effect.gen(function* () {
      const { close, fiber, logged } = yield* start(Effect.never)
      yield* close
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(logged, [])
    })
  )
})
