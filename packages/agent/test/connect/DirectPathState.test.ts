import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as DirectPathState from "../../src/connect/DirectPathState.ts"

const address = { host: "192.0.2.1", port: 4711 }

describe("the route to an origin", () => {
  it.effect("is requested until it fails, and then not for a minute", () =>
    Effect.gen(function* () {
      const route = DirectPathState.make()
      assert.isTrue(yield* route.wanted)
      yield* route.failed
      yield* TestClock.adjust("59999 millis")
      assert.isFalse(yield* route.wanted)
      yield* TestClock.adjust("1 millis")
      assert.isTrue(yield* route.wanted)
    })
  )

  it.effect("remembers where the origin was reached, until that fails", () =>
    Effect.gen(function* () {
      const route = DirectPathState.make()
      assert.isUndefined(route.address())
      yield* route.found(address)
      assert.deepStrictEqual(route.address(), address)
      yield* route.failed
      assert.isUndefined(route.address())
    })
  )
})
