import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { retryForever } from "../../src/observe/RetryForever.ts"

/** Runs the work for the life of a scope; gives what was logged, and how to close it. */
const start = Effect.fnUntraced(function* (work: Effect.Effect<unknown>) {
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => void logged.push(String(message)))
  const scope = yield* Scope.make()
  const fiber = yield* work.pipe(retryForever("counting"), Effect.provide(Logger.layer([logger])), Effect.forkIn(scope))
  yield* TestClock.adjust(0)
  return { fiber, logged, close: Scope.close(scope, Exit.void) }
})

describe("work for the life of an edge", () => {
  it.effect("goes on after a fault in one round, which is logged", () =>
    Effect.gen(function* () {
      let rounds = 0
      const round = Effect.sync(() => {
        rounds += 1
        if (rounds === 2) throw new Error("a fault")
      })
      const { close, logged } = yield* start(Effect.forever(Effect.delay(round, "10 seconds")))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(rounds, 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(rounds, 2)
      assert.lengthOf(logged, 1)
      assert.include(logged[0], "counting failed and is tried again")
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(rounds, 3)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(rounds, 5)
      yield* close
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(rounds, 5)
      assert.lengthOf(logged, 1)
    })
  )

  it.effect("ends with its scope, and says nothing", () =>
    Effect.gen(function* () {
      const { close, fiber, logged } = yield* start(Effect.never)
      yield* close
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(logged, [])
    })
  )
})
