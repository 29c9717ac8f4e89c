import { type Candidate, saturatingAdd, spanningTree, usable } from "@catenet/domain/topologies/SpanningTree"
import { assert, describe, it } from "@effect/vitest"
import { between, often } from "../values/history.ts"
import { candidatesOf, Links, names, parts } from "./overlays.ts"

/** All subsets of the candidates that join as much as can be joined without a circle, as lists of positions. */
const forests = (nodes: ReadonlyArray<string>, all: ReadonlyArray<Candidate>): ReadonlyArray<ReadonlyArray<number>> => {
  const fewest = parts(
    nodes,
    all.map(({ a, b }) => [a, b])
  )
  const found: Array<ReadonlyArray<number>> = []
  for (let bits = 0; bits < 2 ** all.length; bits++) {
    const chosen = all.flatMap((_, i) => ((bits >> i) & 1 ? [i] : []))
    if (chosen.length !== nodes.length - fewest) continue
    const links = chosen.map((i): readonly [string, string] => [all[i]?.a ?? "", all[i]?.b ?? ""])
    if (parts(nodes, links) === fewest) found.push(chosen)
  }
  return found
}

const order = (x: string | bigint, y: string | bigint) => (x < y ? -1 : x > y ? 1 : 0)

describe("spanning trees", () => {
  it.prop(
    "the cheapest of all forests, and among equals the first in the order of candidates",
    [Links, between(1, 6)],
    ([links, size]) => {
      const nodes = names.slice(0, size)
      const candidates = candidatesOf(links)
      const sorted = candidates
        .filter(({ a, b }) => a !== b && nodes.includes(a) && nodes.includes(b))
        .map(({ a, b, cost }) => ({ a: a < b ? a : b, b: a < b ? b : a, cost }))
        .toSorted((x, y) => order(x.cost, y.cost) || order(x.a, y.a) || order(x.b, y.b))
      assert.deepStrictEqual(usable(nodes, candidates), sorted)
      const costOf = (chosen: ReadonlyArray<number>) => chosen.reduce((sum, i) => sum + (sorted[i]?.cost ?? 0n), 0n)
      const [best = []] = forests(nodes, sorted).toSorted((x, y) => {
        const difference = x.findIndex((at, i) => at !== y[i])
        return order(costOf(x), costOf(y)) || (x[difference] ?? 0) - (y[difference] ?? 0)
      })
      const tree = spanningTree(nodes, candidates)
      assert.deepStrictEqual(
        tree.links,
        best.map((i) => [sorted[i]?.a ?? "", sorted[i]?.b ?? ""] as const)
      )
      assert.strictEqual(tree.totalCost, costOf(best))
      assert.strictEqual(tree.connected, parts(nodes, tree.links) === 1)
    },
    often
  )

  it("a sum of costs saturates at 64 bits", () => {
    const most = 2n ** 64n - 1n
    assert.deepStrictEqual(
      [saturatingAdd(most - 1n, 1n), saturatingAdd(most, 1n), saturatingAdd(1n, 2n)],
      [most, most, 3n]
    )
    const huge = [
      { a: "a", b: "b", cost: most },
      { a: "b", b: "c", cost: 2n }
    ]
    assert.strictEqual(spanningTree(["a", "b", "c"], huge).totalCost, most)
  })

  it("no node and one node are connected", () => {
    for (const nodes of [[], ["a"]])
      assert.deepStrictEqual(spanningTree(nodes, []), { links: [], totalCost: 0n, connected: true })
    assert.isFalse(spanningTree(["a", "b"], []).connected)
  })
})
