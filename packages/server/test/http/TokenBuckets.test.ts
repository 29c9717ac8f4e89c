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

  it("let a costly request in with one token left, and the caller wait until its debt is paid", () => {
    const take = TokenBuckets.make(60)
    assert.deepStrictEqual(take("ada", 0, 50), { allowed: true, remaining: 10, retryAfter: 0 })
    assert.deepStrictEqual(take("ada", 0, 30), { allowed: true, remaining: 0, retryAfter: 21 })
    assert.isFalse(take("ada", 20_000).allowed)
    assert.isTrue(take("eve", 0, 50).allowed, "another caller")
    assert.isTrue(take("ada", 21_000).allowed)
    assert.deepStrictEqual(take("bob", 0, 10_000), { allowed: true, remaining: 0, retryAfter: 61 })
  })

  it("refill evenly, and never above what a minute has", () => {
    const take = TokenBuckets.make(60)
    for (let n = 0; n < 60; n++) assert.isTrue(take("ada", 0).allowed)
    assert.deepStrictEqual(take("ada", 0), { allowed: false, remaining: 0, retryAfter: 1 })
    assert.isTrue(take("ada", 1_000).allowed)
    assert.strictEqual(take("ada", hour).remaining, 59)
  })
})
