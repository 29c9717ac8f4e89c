import { assert, describe, it } from "@effect/vitest"
import * as TokenBuckets from "../../src/http/TokenBuckets.ts"

const hour = 3_600_000

describe("token buckets", () => {
  it("serve a known caller whose budget is not spent after the wall clock is set back by an hour", () => {
    const take = TokenBuckets.make(60)
    assert.deepStrictEqual(take("ada", 2 * hour), { allowed: true, remaining: 59, retryAfter: 0 })
    assert.deepStrictEqual(take("ada", hour), { allowed: true, remaining: 58, retryAfter: 0 })
    assert.deepStrictEqual(take("ada", hour + 1_000), { allowed: true, remaining: 58, retryAfter: 0 })
  })

  it("give no tokens back for a wall clock that is set back", () => {
    const take = TokenBuckets.make(2)
    take("ada", 2 * hour)
    take("ada", 2 * hour)
    assert.isFalse(take("ada", hour).allowed)
    assert.isFalse(take("ada", hour + 29_000).allowed)
    assert.isTrue(take("ada", hour + 30_000).allowed)
  })

  it("refill evenly, and never above what a minute has", () => {
    const take = TokenBuckets.make(60)
    for (let n = 0; n < 60; n++) assert.isTrue(take("ada", 0).allowed)
    assert.deepStrictEqual(take("ada", 0), { allowed: false, remaining: 0, retryAfter: 1 })
    assert.isTrue(take("ada", 1_000).allowed)
    assert.strictEqual(take("ada", hour).remaining, 59)
  })
})
