import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { suggest, withShortcuts } from "../../src/topologies/LinkSuggestion.ts"
import { spanningTree } from "../../src/topologies/SpanningTree.ts"
import { ShortcutBudgetTooLarge, TooManyAgents } from "../../src/topologies/TopologyErrors.ts"
import { between, often, refusal } from "../values/history.ts"
import { candidatesOf, Links, names } from "./overlays.ts"

const far = (2n ** 64n - 1n) / 4n

/** Cheapest ways between all positions over the given links, by relaxing until nothing changes. */
const waysOver = (nodes: ReadonlyArray<string>, links: ReadonlyArray<readonly [string, string, bigint]>) => {
  const ways = new Map<string, bigint>()
  const way = (x: string, y: string) => (x === y ? 0n : (ways.get(`${x}${y}`) ?? far))
  for (let changed = true; changed;) {
    changed = false
    for (const [a, b, cost] of links)
      for (const from of nodes)
        for (const [near, next] of [
          [a, b],
          [b, a]
        ] as const)
          if (way(from, near) + cost < way(from, next)) {
            ways.set(`${from}${next}`, way(from, near) + cost)
            changed = true
          }
  }
  return way
}

describe("suggestions", () => {
  it.prop(
    "every shortcut is the best that was left, found by trying all",
    [Links, between(1, 6), between(0, 4), between(0, 1)],
    ([drawn, size, budget, turned]) => {
      const nodes = turned === 1 ? names.slice(0, size).toReversed() : names.slice(0, size)
      const candidates = candidatesOf(drawn)
      const cheapest = new Map<string, bigint>()
      for (const [i, x] of nodes.entries())
        for (const y of nodes.slice(i + 1)) {
          const costs = candidates
            .filter(({ a, b }) => (a === x && b === y) || (a === y && b === x))
            .map(({ cost }) => cost)
          if (costs.length > 0)
            cheapest.set(
              `${x}${y}`,
              costs.reduce((p, q) => (q < p ? q : p))
            )
        }
      const costOf = (x: string, y: string) => cheapest.get(`${x}${y}`) ?? cheapest.get(`${y}${x}`) ?? 0n
      const tree = spanningTree(nodes, candidates)
      const links = tree.links.map(([a, b]): readonly [string, string, bigint] => [a, b, costOf(a, b)])
      for (let left = budget; left > 0; left--) {
        const way = waysOver(nodes, links)
        const used = new Set(links.map(([a, b]) => `${a}${b}`))
        const savings = [...cheapest]
          .map(([pair, cost]) => ({
            x: pair[0] ?? "",
            y: pair[1] ?? "",
            saving: way(pair[0] ?? "", pair[1] ?? "") - cost
          }))
          .filter(({ saving, x, y }) => saving > 0n && !used.has(`${x}${y}`) && !used.has(`${y}${x}`))
        const most = savings.reduce((best, { saving }) => (saving > best ? saving : best), 0n)
        // The map holds the pairs by the positions of their ends, so the first of the best is the one to take.
        const best = savings.find(({ saving }) => saving === most)
        if (best === undefined) break
        const [a = "", b = ""] = [best.x, best.y].toSorted()
        links.push([a, b, costOf(a, b)])
      }
      const found = withShortcuts(nodes, candidates, budget)
      assert.deepStrictEqual(
        found.links,
        links.map(([a, b]) => [a, b] as const)
      )
      assert.strictEqual(
        found.totalCost,
        links.reduce((sum, [, , cost]) => sum + cost, 0n)
      )
      assert.strictEqual(found.connected, tree.connected)
    },
    often
  )

  it("checks mode, budget, size in this order; both limits are inclusive", () => {
    const agents = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)
    const ask = { agents: agents(65), links: [], budget: 17 }
    assert.strictEqual(refusal(suggest({ ...ask, mode: "baseline" })), "NothingToSuggest")
    assert.deepStrictEqual(
      suggest({ ...ask, mode: "shortcut" }),
      Result.fail(new ShortcutBudgetTooLarge({ budget: 17 }))
    )
    assert.deepStrictEqual(
      suggest({ ...ask, budget: 16, mode: "shortcut" }),
      Result.fail(new TooManyAgents({ agents: 65 }))
    )
    assert.isTrue(Result.isSuccess(suggest({ agents: agents(64), links: [], budget: 16, mode: "random-mesh" })))
  })

  it("only shortcut mode spends the budget; nodes are sorted first", () => {
    const links = [
      { a: "a", b: "b", cost: 1n },
      { a: "b", b: "c", cost: 1n },
      { a: "a", b: "c", cost: 1n }
    ]
    const agents = ["c", "b", "a"]
    for (const mode of ["smart-route", "random-mesh"] as const)
      assert.deepStrictEqual(
        suggest({ mode, agents, links, budget: 5 }),
        Result.succeed(spanningTree(["a", "b", "c"], links))
      )
    assert.deepStrictEqual(Result.getOrThrow(suggest({ mode: "shortcut", agents, links, budget: 5 })).links, [
      ["a", "b"],
      ["a", "c"],
      ["b", "c"]
    ])
  })

  it("among equal savings the pair with the smaller positions is taken", () => {
    const nodes = ["a", "b", "c", "d", "e"]
    const line = ["ab", "bc", "cd", "de"].map(([a = "", b = ""]) => ({ a, b, cost: 2n }))
    const [near, wide, inner] = [
      { a: "a", b: "d", cost: 5n },
      { a: "a", b: "e", cost: 7n },
      { a: "b", b: "d", cost: 3n }
    ] as const
    const taken = (...extra: ReadonlyArray<(typeof line)[number]>) =>
      withShortcuts(nodes, [...line, ...extra], 1).links.at(-1)
    assert.deepStrictEqual(taken(inner, wide, near), ["a", "d"])
    assert.deepStrictEqual(taken(inner, wide), ["a", "e"])
    assert.deepStrictEqual(taken(inner), ["b", "d"])
  })

  it("a way counts as no longer than one that does not exist", () => {
    const chain = (cost: bigint) => [
      { a: "a", b: "b", cost: (far * 3n) / 4n },
      { a: "b", b: "c", cost: (far * 3n) / 4n },
      { a: "a", b: "c", cost }
    ]
    assert.strictEqual(withShortcuts(["a", "b", "c"], chain(far), 1).links.length, 2)
    assert.strictEqual(withShortcuts(["a", "b", "c"], chain(far - 1n), 1).links.length, 3)
  })

  it("the sum of a suggestion saturates, too", () => {
    const most = 2n ** 64n - 1n
    const links = [
      { a: "a", b: "b", cost: most / 5n },
      { a: "b", b: "c", cost: most },
      { a: "a", b: "c", cost: 1n },
      { a: "b", b: "c", cost: 1n }
    ]
    const found = withShortcuts(["a", "b", "c"], links, 3)
    assert.deepStrictEqual(found, {
      links: [
        ["a", "c"],
        ["b", "c"]
      ],
      totalCost: 2n,
      connected: true
    })
    const chain = [
      { a: "a", b: "b", cost: far - 1n },
      { a: "b", b: "c", cost: far - 1n },
      { a: "a", b: "c", cost: far - 1n }
    ]
    assert.strictEqual(withShortcuts(["a", "b", "c"], chain, 1).totalCost, 3n * (far - 1n))
  })
})
