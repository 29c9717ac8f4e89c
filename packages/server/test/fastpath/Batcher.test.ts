import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { batched, enough } from "../../src/fastpath/Batcher.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Squares, with the keys of every statement. */
const squares = Effect.gen(function* () {
  const statements: Array<ReadonlyArray<number>> = []
  const square = yield* batched((keys: ReadonlyArray<number>) =>
    Effect.sync(() => {
      statements.push(keys)
      return (key: number) => key * key
    })
  )
  return { square, statements }
})

const all = <A, E>(look: (key: number) => Effect.Effect<A, E>, count: number) =>
  Effect.forEach(numbers(count), look, { concurrency: "unbounded" })

describe("look-ups", () => {
  it.live("of one turn are one statement, and each gets its own answer", () =>
    Effect.gen(function* () {
      const { square, statements } = yield* squares
      assert.deepStrictEqual(yield* all(square, 5), [0, 1, 4, 9, 16])
      assert.strictEqual(yield* square(7), 49)
      assert.deepStrictEqual(statements, [[0, 1, 2, 3, 4], [7]])
    })
  )

  it.live("do not wait for more when they are enough", () =>
    Effect.gen(function* () {
      const { square, statements } = yield* squares
      const count = enough * 2 + 1
      assert.deepStrictEqual(
        yield* all(square, count),
        numbers(count).map((n) => n * n)
      )
      assert.deepStrictEqual(
        statements.map(({ length }) => length),
        [enough, enough, 1]
      )
    })
  )

  it.live("fail with their statement, and the next ones do not", () =>
    Effect.gen(function* () {
      let isUnavailable = true
      const look = yield* batched(() => (isUnavailable ? Effect.fail("away") : Effect.succeed((key: number) => key)))
      const exits = yield* all((key) => Effect.exit(look(key)), 3)
      for (const exit of exits) assert.deepStrictEqual(exit, Exit.fail("away"))
      isUnavailable = false
      assert.deepStrictEqual(yield* all(look, 3), [0, 1, 2])
    })
  )

  it.live("are not held up by who goes away, or by an answer that cannot be given", () =>
    Effect.gen(function* () {
      const look = yield* batched(() =>
        Effect.succeed((key: number) => {
          if (key === 1) throw new Error("no such number")
          return key
        })
      )
      const gone = yield* Effect.forkChild(look(0), { startImmediately: true })
      const others = yield* Effect.forkChild(
        all((key) => Effect.exit(look(key)), 3),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(gone)
      const [first, second, third] = yield* Fiber.join(others)
      assert.deepStrictEqual([first, third], [Exit.succeed(0), Exit.succeed(2)])
      assert.isTrue(second !== undefined && Exit.isFailure(second) && Cause.hasDies(second.cause))
    })
  )
})
