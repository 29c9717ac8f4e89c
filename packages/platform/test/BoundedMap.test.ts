import { assert, describe, it } from "@effect/vitest"
import { BoundedMap } from "../src/BoundedMap.ts"

describe("a bounded map", () => {
  it("drops the entry that was set longest ago when there is one too many, and none before", () => {
    const map = new BoundedMap<number, string>(3)
    for (const key of [1, 2, 3]) map.set(key, "first")
    assert.deepStrictEqual([...map.keys()], [1, 2, 3])
    map.set(1, "again")
    assert.deepStrictEqual([...map.keys()], [2, 3, 1])
    map.set(4, "one too many")
    assert.deepStrictEqual([...map.keys()], [3, 1, 4])
    assert.strictEqual(map.get(1), "again")
    assert.isUndefined(map.get(2))
    map.delete(3)
    map.set(5, "in the room that is left")
    assert.deepStrictEqual([...map.keys()], [1, 4, 5])
  })
})
