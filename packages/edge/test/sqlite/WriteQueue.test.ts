import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import * as WriteQueue from "../../src/sqlite/WriteQueue.ts"

const failing = (errcode: number) => Object.assign(new Error("no"), { errcode })

/** A database of which each write is a name; `refuse` says why it does not take one now. */
const open = Effect.gen(function* () {
  const taken: Array<string> = []
  const said: Array<string> = []
  const state: { refuse: Error | undefined } = { refuse: undefined }
  const logger = Logger.make<unknown, void>(({ fiber, message }) => {
    const { lost } = fiber.getRef(References.CurrentLogAnnotations)
    said.push(`${String(message)}${lost === undefined ? "" : ` ${String(lost)}`}`)
  })
  const write = yield* WriteQueue.make("history", (work) => {
    if (state.refuse !== undefined) throw state.refuse
    work()
  }).pipe(Effect.provide(Logger.layer([logger])))
  return { said, state, taken, write: (name: string, rows?: number) => write(() => void taken.push(name), rows) }
})

describe("writes", () => {
  it.effect("run at once, or in order when the database accepts them again, with a log line for each change", () =>
    Effect.gen(function* () {
      const { said, state, taken, write } = yield* open
      write("a")
      assert.deepStrictEqual(taken, ["a"])
      // SQLITE_BUSY_SNAPSHOT, whose primary code is busy.
      state.refuse = failing(517)
      write("b")
      yield* TestClock.adjust("10 seconds")
      write("c")
      assert.deepStrictEqual(taken, ["a"])
      assert.deepStrictEqual(said, ["a database does not take what is written to it 0"])
      state.refuse = undefined
      write("d")
      assert.deepStrictEqual(taken, ["a"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(taken, ["a", "b", "c", "d"])
      assert.deepStrictEqual(said.slice(1), ["a database takes what is written to it again"])
      write("e")
      assert.deepStrictEqual(taken, ["a", "b", "c", "d", "e"])
    }).pipe(Effect.scoped)
  )

  it.effect("that can never succeed are dropped and logged", () =>
    Effect.gen(function* () {
      const { said, state, taken, write } = yield* open
      state.refuse = failing(19)
      write("a")
      state.refuse = undefined
      write("b")
      assert.deepStrictEqual(taken, ["b"])
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(said, ["a database does not take what is written to it 1"])
    }).pipe(Effect.scoped)
  )

  it.effect("that wait are bounded by their rows, not counting rows already written", () =>
    Effect.gen(function* () {
      const { said, state, taken, write } = yield* open
      write("done", 65_536)
      state.refuse = failing(13)
      for (let i = 0; i < 3; i++) write("many", 32_768)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(said, ["a database does not take what is written to it 1"])
      state.refuse = undefined
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(taken, ["done", "many", "many"])
    }).pipe(Effect.scoped)
  )

  it.effect("that wait are bounded", () =>
    Effect.gen(function* () {
      const { said, state, taken, write } = yield* open
      state.refuse = failing(13)
      for (let i = 0; i < 65_540; i++) write("x")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(said, ["a database does not take what is written to it 4"])
      state.refuse = undefined
      yield* TestClock.adjust("1 second")
      assert.strictEqual(taken.length, 65_536)
    }).pipe(Effect.scoped)
  )
})
