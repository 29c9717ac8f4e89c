import { ReplayCache } from "@catenet/crypto/ReplayCache"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import * as any from "./arbitraries.ts"
import { runs } from "./suite/arbitraries.ts"

const events = Arbitrary.array(Arbitrary.all([any.integer(0, 5), any.integer(0, 60), any.integer(0, 4)]), {
  minLength: 50,
  maxLength: 120
})

describe("replay cache", () => {
  it.prop(
    "lets every living signature through once, whatever was swept in between",
    { events },
    ({ events }) => {
      const cache = new ReplayCache()
      const seenUntil = new Map<number, number>()
      let now = 0
      for (const [name, life, pause] of events) {
        now += pause
        const expiresAt = now + life
        const expected = life > 0 && !((seenUntil.get(name) ?? 0) > now)
        assert.strictEqual(cache.fresh(new Uint8Array(64).fill(name), BigInt(expiresAt), BigInt(now)), expected)
        if (expected) seenUntil.set(name, expiresAt)
        assert.isAtMost(cache.size, 6)
      }
    },
    runs
  )
  it("forgets the dead at the first sight of anything after five seconds", () => {
    const cache = new ReplayCache()
    cache.fresh(new Uint8Array(64).fill(1), 1002n, 1000n)
    cache.fresh(new Uint8Array(64).fill(2), 1100n, 1004n)
    assert.strictEqual(cache.size, 2)
    cache.fresh(new Uint8Array(64).fill(3), 1100n, 1005n)
    assert.strictEqual(cache.size, 2)
    assert.isFalse(cache.fresh(new Uint8Array(64).fill(4), 1005n, 1005n))
    assert.strictEqual(cache.size, 2)
  })
})
