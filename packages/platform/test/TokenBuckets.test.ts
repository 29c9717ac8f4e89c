import { assert, describe, it } from "@effect/vitest"
import { maxKeys, TokenBuckets } from "../src/TokenBuckets.ts"

const hour = 3_600_000

describe("token buckets", () => {
  it("serve a known caller whose budget is not spent after the wall clock is set back by an hour", () => {
    const buckets = new TokenBuckets(60)
    assert.deepStrictEqual(buckets.take("ada", 2 * hour), { allowed: true, remaining: 59, retryAfter: 0 })
    assert.deepStrictEqual(buckets.take("ada", hour), { allowed: true, remaining: 58, retryAfter: 0 })
    assert.deepStrictEqual(buckets.take("ada", hour + 1_000), { allowed: true, remaining: 58, retryAfter: 0 })
  })

  it("give no tokens back for a wall clock that is set back", () => {
    const buckets = new TokenBuckets(2)
    buckets.take("ada", 2 * hour)
    buckets.take("ada", 2 * hour)
    assert.isFalse(buckets.take("ada", hour).allowed)
    assert.isFalse(buckets.take("ada", hour + 29_000).allowed)
    assert.isTrue(buckets.take("ada", hour + 30_000).allowed)
  })

  it("let a costly request in with one token left, and the caller wait until its debt is paid", () => {
    const buckets = new TokenBuckets(60)
    assert.deepStrictEqual(buckets.take("ada", 0, 50), { allowed: true, remaining: 10, retryAfter: 0 })
    assert.deepStrictEqual(buckets.take("ada", 0, 30), { allowed: true, remaining: 0, retryAfter: 21 })
    assert.isFalse(buckets.take("ada", 20_000).allowed)
    assert.isTrue(buckets.take("eve", 0, 50).allowed, "another caller")
    assert.isTrue(buckets.take("ada", 21_000).allowed)
    assert.deepStrictEqual(buckets.take("bob", 0, 10_000), { allowed: true, remaining: 0, retryAfter: 61 })
  })

  it("refill evenly, and never above what a minute has", () => {
    const buckets = new TokenBuckets(60)
    for (let n = 0; n < 60; n++) assert.isTrue(buckets.take("ada", 0).allowed)
    assert.deepStrictEqual(buckets.take("ada", 0), { allowed: false, remaining: 0, retryAfter: 1 })
    assert.isTrue(buckets.take("ada", 1_000).allowed)
    assert.strictEqual(buckets.take("ada", hour).remaining, 59)
  })

  it("never admit two bursts around a boundary", () => {
    const buckets = new TokenBuckets(60)
    const taken = Array.from({ length: 1_000 }, (_, index) => buckets.take("ada", index).allowed).filter(Boolean)
    assert.lengthOf(taken, 60)
    assert.isTrue(buckets.take("eve", 1_000).allowed)
    const later = Array.from({ length: 10 }, () => buckets.take("ada", 3_500).allowed).filter(Boolean)
    assert.lengthOf(later, 3)
  })

  it("forget the keys at rest, and beyond their number those that were not used for longest", () => {
    const buckets = new TokenBuckets(1)
    buckets.take("spent", 0)
    for (let n = 1; n < maxKeys; n++) buckets.take(`key ${n}`, 0)
    assert.strictEqual(buckets.size, maxKeys)
    assert.isFalse(buckets.take("spent", 0).allowed)
    buckets.take("one more", 0)
    assert.strictEqual(buckets.size, maxKeys)
    assert.isFalse(buckets.take("spent", 0).allowed, "it was used a moment ago")
    assert.isTrue(buckets.take("key 1", 0).allowed, "it was not")
    buckets.take("later", 60_000)
    assert.strictEqual(buckets.size, 1)
  })
})
