import { RateLimit } from "@catenet/domain/rules/Rules"
import { RateLimits } from "@catenet/proxy/internal/rules/RateLimits"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const limit = Schema.decodeSync(RateLimit)

describe("rate limits", () => {
  it("let a whole rate come at once, and then one whenever its share of the time has passed", () => {
    const { spend } = new RateLimits().of("t")
    const three = limit({ per: "address", rate: "3/3s" })
    for (const wait of [0, 0, 0, 1_000]) assert.strictEqual(spend(three, "a", 5_000), wait)
    assert.strictEqual(spend(three, "b", 5_000), 0, "another address has its own")
    assert.strictEqual(spend(three, "a", 5_999), 1)
    assert.strictEqual(spend(three, "a", 6_000), 0)
    assert.strictEqual(spend(three, "a", 6_000), 1_000)
    for (const wait of [0, 0, 0, 1_000]) assert.strictEqual(spend(three, "a", 60_000), wait)
  })

  it("hold nobody out for longer than a whole rate when the clock is set back", () => {
    const { spend } = new RateLimits().of("t")
    const one = limit({ per: "address", rate: "1/10s" })
    assert.strictEqual(spend(one, "a", 1_000_000), 0)
    assert.strictEqual(spend(one, "a", 0), 10_000)
    assert.strictEqual(spend(one, "a", 10_000), 0)
  })

  it("forget visitors of the tunnel that has the most, and never those of another", () => {
    const limits = new RateLimits(100)
    const hourly = limit({ per: "address", rate: "1/h" })
    const [few, many] = [limits.of("few"), limits.of("many")]
    for (let at = 0; at < 10; at++) assert.strictEqual(few.spend(hourly, `own ${at}`, 0), 0)
    for (let at = 0; at < 10_000; at++) many.spend(hourly, `stranger ${at}`, 0)
    assert.isAtMost(limits.size, 100)
    for (let at = 0; at < 10; at++) assert.isAbove(few.spend(hourly, `own ${at}`, 1), 0)
    assert.strictEqual(few.spend(hourly, "new", 1), 0)
  })

  it("keep nobody whose rate is whole again", () => {
    const limits = new RateLimits()
    const { spend } = limits.of("t")
    const brief = limit({ per: "address", rate: "1/s" })
    for (let at = 0; at < 1_000; at++) spend(brief, `a${at}`, at * 2_000)
    assert.isAtMost(limits.size, 2)
  })
})
