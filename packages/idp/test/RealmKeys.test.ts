import { assert, describe, it } from "vitest"
import { rotate } from "../src/RealmKeys.ts"
import type { RealmKey } from "../src/RealmState.ts"

describe("keys of a realm", () => {
  it("sign for a month and verify for forty days more", async () => {
    const kept = new Map<string, RealmKey>()
    const keys = {
      all: async () => [...kept.values()].toSorted((a, b) => b.at - a.at),
      put: async (key: RealmKey) => void kept.set(key.id, key),
      remove: async (id: string) => void kept.delete(id)
    }
    const after = (days: number) => rotate({ keys }, 1_800_000_000 + days * 86_400)
    const kidsAfter = async (days: number) => (await after(days)).signing.map(({ kid }) => kid)
    const first = await after(0)
    assert.deepStrictEqual([first.signing.length, first.cookies.length], [1, 1])
    assert.deepStrictEqual(await after(29), first)
    const second = await after(31)
    assert.notStrictEqual(second.signing[0]?.kid, first.signing[0]?.kid)
    assert.deepStrictEqual([second.signing[1], second.cookies[1]], [first.signing[0], first.cookies[0]])
    assert.include(await kidsAfter(69), first.signing[0]?.kid)
    assert.notInclude(await kidsAfter(71), first.signing[0]?.kid)
  })
})
