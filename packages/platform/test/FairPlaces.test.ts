import { assert, describe, it } from "@effect/vitest"
import { FairPlaces } from "../src/FairPlaces.ts"

/** Holders by name, and who was evicted. */
const world = (most: number) => {
  const places = new FairPlaces(most)
  const evicted: Array<string> = []
  const leaves = new Map<string, () => void>()
  const take = (address: string, name: string, isIdle = false) => {
    const leave = places.take(address, { isIdle: () => isIdle, evict: () => void evicted.push(name) })
    if (leave !== undefined) leaves.set(name, leave)
    return leave !== undefined
  }
  return { places, evicted, leaves, take }
}

describe("places that addresses share", () => {
  it("are given to anyone while there are some, and one address alone may hold all", () => {
    const { evicted, places, take } = world(3)
    for (const name of ["1", "2", "3"]) assert.isTrue(take("a", name))
    assert.isFalse(take("a", "4"), "the newest connection of the address that holds most")
    assert.deepStrictEqual([evicted, places.taken], [[], 3])
  })

  it("pass from the address that holds most to one that holds fewer, until they hold as many", () => {
    const { evicted, places, take } = world(6)
    for (const name of ["1", "2", "3", "4", "5", "6"]) take("a", name)
    for (const name of ["7", "8", "9"]) assert.isTrue(take("b", name))
    assert.isFalse(take("b", "10"))
    assert.deepStrictEqual(evicted, ["6", "5", "4"])
    assert.deepStrictEqual([places.heldBy("a"), places.heldBy("b")], [3, 3])
  })

  it("are left by the newest idle holder first, and by the newest busy one where none is idle", () => {
    const { evicted, take } = world(4)
    take("a", "busy 1")
    take("a", "idle 1", true)
    take("a", "idle 2", true)
    take("a", "busy 2")
    assert.isTrue(take("b", "x"))
    assert.isTrue(take("c", "y"))
    assert.deepStrictEqual(evicted, ["idle 2", "idle 1"])
    assert.isFalse(take("d", "z") && take("e", "z"), "a second one would hold as many as those that are there")
    assert.deepStrictEqual(evicted.slice(2), ["busy 2"])
  })

  it("pass from an idle connection to a busy one of the same address, never to an idle one", () => {
    const { evicted, take } = world(2)
    take("a", "idle", true)
    take("a", "busy")
    assert.isFalse(take("a", "silent", true))
    assert.isTrue(take("a", "asks"))
    assert.isFalse(take("a", "asks too"))
    assert.deepStrictEqual(evicted, ["idle"])
  })

  it("are free again when they are left, once, also by a holder that was evicted", () => {
    const { leaves, places, take } = world(2)
    take("a", "1")
    take("a", "2")
    take("b", "3")
    for (const name of ["2", "2", "3", "3"]) leaves.get(name)?.()
    assert.deepStrictEqual([places.taken, places.heldBy("a"), places.heldBy("b")], [1, 1, 0])
    assert.isTrue(take("c", "4"))
    assert.strictEqual(places.taken, 2)
  })

  it("know the address that holds most, in any history", () => {
    for (let seed = 1; seed <= 100; seed++) {
      let state = seed
      const pick = (most: number) => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        return Math.floor((state / 2_147_483_648) * most)
      }
      const most = 12
      const places = new FairPlaces(most)
      let evictions = 0
      const held = new Map<string, Set<string>>()
      const leaves = new Map<string, () => void>()
      for (let step = 0; step < 200; step++) {
        const address = `${pick(5)}`
        const own = held.get(address) ?? new Set()
        held.set(address, own)
        const [first] = own
        if (pick(3) === 0 && first !== undefined) {
          own.delete(first)
          leaves.get(first)?.()
          continue
        }
        const before = Math.max(0, ...Array.from(held.values(), ({ size }) => size))
        const wasFull = places.taken === most
        const name = `${seed} ${step}`
        evictions = 0
        const leave = places.take(address, { isIdle: () => false, evict: () => void evictions++ })
        assert.strictEqual(evictions, leave !== undefined && wasFull ? 1 : 0)
        if (leave === undefined) {
          assert.isTrue(wasFull && own.size + 1 >= before, `seed ${seed}, step ${step}`)
          continue
        }
        if (wasFull) {
          const [loser, names] = Array.from(held).find(([other, { size }]) => places.heldBy(other) === size - 1) ?? []
          assert.strictEqual(names?.size, before, `seed ${seed}, step ${step}: ${loser} did not hold the most`)
          names?.delete(Array.from(names).at(-1) ?? "")
        }
        own.add(name)
        leaves.set(name, leave)
        assert.strictEqual(places.heldBy(address), own.size)
      }
    }
  })
})
