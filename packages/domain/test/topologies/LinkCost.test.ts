import { linkCost } from "@catenet/domain/topologies/SpanningTree"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, often } from "../values/history.ts"

describe("link cost", () => {
  it.prop(
    "is the median of its probes",
    [Schema.Array(between(0, 50))],
    ([probes]) => {
      const cost = linkCost(probes.map(BigInt))
      if (probes.length === 0) return assert.isNull(cost)
      const half = probes.length / 2
      assert.isTrue(probes.filter((probe) => BigInt(probe) < (cost ?? 0n)).length <= half)
      assert.isTrue(probes.filter((probe) => BigInt(probe) > (cost ?? 0n)).length <= half)
      const sorted = probes.toSorted((x, y) => x - y)
      const [low = 0, high = 0] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]]
      assert.strictEqual(cost, BigInt(Math.floor((low + high) / 2)))
    },
    often
  )
})
