import { assert, describe, it } from "@effect/vitest"
import { unregisteredPerBlock, UnregisteredPool } from "../../src/sessions/UnregisteredAgentQuota.ts"

describe("parked slots of tunnels that the control plane has not named", () => {
  const slots = (count: number) =>
    Array.from({ length: count }, () => ({
      closed: false,
      close() {
        this.closed = true
      }
    }))

  it("evict the oldest of their address block beyond its pool", () => {
    const parks = new UnregisteredPool(4_096)
    const other = slots(1)
    for (const slot of other) parks.add(slot, "b")
    const mine = slots(unregisteredPerBlock + 2)
    assert.deepStrictEqual(
      mine.map((slot) => parks.add(slot, "a")).filter((evicted) => evicted > 0),
      [1, 1]
    )
    assert.deepStrictEqual(
      mine.flatMap(({ closed }, index) => (closed ? [index] : [])),
      [0, 1]
    )
    assert.isFalse(other[0]?.closed)
  })

  it("evict the oldest of all beyond a tenth of the cap", () => {
    const parks = new UnregisteredPool(40)
    const all = slots(5)
    all.forEach((slot, index) => parks.add(slot, `block ${index}`))
    assert.deepStrictEqual(
      all.map(({ closed }) => closed),
      [true, false, false, false, false]
    )
    assert.strictEqual(parks.size, 4)
  })
})
