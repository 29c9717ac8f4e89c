import { bidLimit, countBid, noBids } from "@catenet/domain/agents/BidRate"
import { assert, describe, it } from "@effect/vitest"
import { HashMap, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

describe("the bid rate", () => {
  it.prop(
    "equals a list of windows with the oldest callers dropped",
    [history(Schema.Struct({ caller: between(0, 6), wait: between(0, 6) })), between(0, 12)],
    ([bids, window]) => {
      const limit = { bids: 2, window, callers: 4 }
      let rates = noBids
      let now = 1000
      // Callers in the order in which they were first seen, each with the window and the bids counted in it.
      let known: Array<{ caller: string; window: number; bids: number }> = []
      for (const { caller: number, wait } of bids) {
        now += wait
        const caller = `c${number}`
        const current = window === 0 ? 0 : Math.floor(now / window)
        const entry = known.find((one) => one.caller === caller)
        const counted = entry !== undefined && entry.window === current ? entry.bids : 0
        const next = countBid(rates, caller, now, limit)
        assert.strictEqual(next === null, counted >= 2)
        if (next === null) continue
        rates = next
        if (entry === undefined) known.push({ caller, window: current, bids: 1 })
        else Object.assign(entry, { window: current, bids: counted + 1 })
        known = known.slice(-4)
        assert.strictEqual(HashMap.size(rates.counts), known.length)
        assert.strictEqual(HashMap.size(rates.queue), known.length)
        const wrong = known.find((one) => {
          const count = HashMap.getUnsafe(rates.counts, one.caller)
          return count.window !== one.window || count.bids !== one.bids
        })
        assert.isUndefined(wrong)
      }
    },
    often
  )

  it("allows sixty a minute, to a hundred thousand callers", () => {
    assert.deepStrictEqual(bidLimit, { bids: 60, window: 60, callers: 100_000 })
    let rates = noBids
    for (let i = 0; i < 60; i++) rates = countBid(rates, "ada", 119) ?? assert.fail("refused too early")
    assert.isNull(countBid(rates, "ada", 119))
    assert.isNotNull(countBid(rates, "ada", 120))
    assert.isNotNull(countBid(rates, "bob", 119))
  })
})
