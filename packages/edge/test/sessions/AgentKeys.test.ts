import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import type { Database } from "@catenet/edge/sqlite/SqliteDatabase"
import { Store } from "@catenet/edge/sqlite/HistoryDatabase"
import { AgentKeys } from "@catenet/edge/sessions/AgentKeys"
import { token } from "../world/World.ts"

const T = token("1")
const inMemory = AgentKeys.layer.pipe(Layer.provide(Layer.succeed(Store, { db: undefined })))

describe("AgentKeys", () => {
  it.effect("keeps a tunnel with its first key while that key is seen, and lets go a day after", () =>
    Effect.gen(function* () {
      const keys = yield* AgentKeys
      assert.isTrue(keys.owns(T, "first"))
      assert.isFalse(keys.owns(T, "second"))
      yield* TestClock.adjust("23 hours")
      keys.seen(T)
      yield* TestClock.adjust("23 hours")
      assert.isFalse(keys.owns(T, "second"))
      assert.isTrue(keys.owns(token("2"), "second"))
      yield* TestClock.adjust("1 hour")
      assert.isTrue(keys.owns(T, "second"))
      assert.isFalse(keys.owns(T, "first"))
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("gives a tunnel to nobody while its owner cannot be read", () =>
    Effect.gen(function* () {
      const written: Array<unknown> = []
      const said: Array<unknown> = []
      const damaged: Database = {
        all: () => {
          throw new Error("database disk image is malformed")
        },
        run: (...statement) => void written.push(statement),
        write: (work) => work(),
        durable: true
      }
      const logger = Logger.make<unknown, void>(({ message }) => void said.push(message))
      yield* Effect.gen(function* () {
        const keys = yield* AgentKeys
        assert.isFalse(keys.owns(T, "aa"))
        keys.seen(T)
        yield* Effect.yieldNow
      }).pipe(
        Effect.provide(
          AgentKeys.layer.pipe(
            Layer.provide(Layer.succeed(Store, { db: damaged })),
            Layer.provideMerge(Logger.layer([logger]))
          )
        )
      )
      assert.deepStrictEqual(written, [])
      assert.deepStrictEqual(said.flat(), Array(2).fill("who owns a tunnel cannot be read; its agents stand by"))
    })
  )
})
