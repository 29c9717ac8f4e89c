import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Store } from "@catenet/edge/history/Store"
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
})
