import { commit, type Commitments, takes } from "@catenet/domain/agents/Matching"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const offer = {
  kind: "LocalHardware",
  models: ["m1", "m2"],
  units_available: 10n,
  min_price: 5n,
  expires_at: 100n,
  services: ["SafetyCheck", { Custom: "ocr" }]
} as const
const bid = { kind: "LocalHardware", model: "m2", units: 10n, total_price: 5n, expires_at: 50n, service: null } as const

describe("matching", () => {
  it("an offer takes a bid that meets every term exactly, and none that misses one", () => {
    assert.isTrue(takes(offer, bid, 49n))
    assert.isFalse(takes(offer, bid, 50n))
    assert.isFalse(takes({ ...offer, expires_at: 49n }, bid, 49n))
    assert.isTrue(takes({ ...offer, expires_at: 50n }, bid, 49n))
    assert.isFalse(takes(offer, { ...bid, kind: "CloudApiQuota" }, 0n))
    assert.isFalse(takes(offer, { ...bid, model: "m3" }, 0n))
    assert.isFalse(takes(offer, { ...bid, units: 11n }, 0n))
    assert.isFalse(takes(offer, { ...bid, total_price: 4n }, 0n))
    for (const service of ["SafetyCheck", { Custom: "ocr" }] as const)
      assert.isTrue(takes(offer, { ...bid, service }, 0n))
    for (const service of ["TextGeneration", { Custom: "SafetyCheck" }] as const)
      assert.isFalse(takes(offer, { ...bid, service }, 0n))
    assert.isTrue(takes({ ...offer, services: [] }, bid, 0n))
    assert.isFalse(takes({ ...offer, services: [] }, { ...bid, service: "SafetyCheck" }, 0n))
  })

  it.prop(
    "no offer is promised beyond its units",
    [history(Schema.Struct({ offer: between(0, 2), units: between(0, 8) }))],
    ([asked]) => {
      let book: Commitments = new Map()
      const left = [5n, 20n, 60n]
      for (const { offer, units } of asked) {
        const units_available = [5n, 20n, 60n][offer] ?? 0n
        const next = commit(book, { signature: `s${offer}`, units_available }, BigInt(units))
        const fits = BigInt(units) <= (left[offer] ?? 0n)
        assert.strictEqual(next !== null, fits)
        if (fits) left[offer] = (left[offer] ?? 0n) - BigInt(units)
        book = next ?? book
        for (const i of [0, 1, 2]) assert.strictEqual(([5n, 20n, 60n][i] ?? 0n) - (book.get(`s${i}`) ?? 0n), left[i])
      }
    },
    often
  )
})
