/**
 * Suggests links for a topology by their costs: a spanning tree, and in shortcut mode a few more links where they
 * shorten a path most. A suggestion changes nothing.
 */
import { Result } from "effect"
import { type Candidate, saturatingAdd, spanningTree, type Tree, usable } from "./SpanningTree.ts"
import { maxSuggestAgents, maxSuggestBudget, type OverlayMode } from "./Topology.ts"
import { NothingToSuggest, ShortcutBudgetTooLarge, TooManyAgents } from "./TopologyErrors.ts"

const unreachable = (2n ** 64n - 1n) / 4n

/** The cost of the cheapest way between any two nodes, by their positions. */
class Distances {
  readonly #rows: Array<Array<bigint>>
  constructor(size: number) {
    this.#rows = Array.from({ length: size }, (_, i) =>
      Array.from({ length: size }, (_, j) => (i === j ? 0n : unreachable))
    )
  }
  between(i: number, j: number): bigint {
    return this.#rows[i]?.[j] ?? unreachable
  }
  /**
   * With one more link, a way is either as it was, or leads over that link in one of the two directions. Only nodes that the
   * link brings nearer to one of its ends have ways to look at: with a tree's links that is each pair once in all.
   */
  link(a: number, b: number, cost: bigint): void {
    this.#over(cost, this.#nearer(a, b, cost), this.#nearer(b, a, cost))
  }
  /** The nodes with their way to `from`, for which the link makes the way to `to` shorter. */
  #nearer(from: number, to: number, cost: bigint): ReadonlyArray<readonly [number, bigint]> {
    const found: Array<readonly [number, bigint]> = []
    for (let i = 0; i < this.#rows.length; i++) {
      const way = this.between(i, from)
      if (way + cost < this.between(i, to)) found.push([i, way])
    }
    return found
  }
  /** From each node of one side over the link to each of the other; the same way leads back. */
  #over(
    cost: bigint,
    side: ReadonlyArray<readonly [number, bigint]>,
    other: ReadonlyArray<readonly [number, bigint]>
  ): void {
    for (const [i, toA] of side) {
      const row = this.#rows[i]
      if (row === undefined) continue
      const toB = toA + cost
      for (const [j, fromB] of other) {
        const over = toB + fromB
        if (over >= (row[j] ?? 0n)) continue
        row[j] = over
        const back = this.#rows[j]
        if (back !== undefined) back[i] = over
      }
    }
  }
}

/** A candidate with the positions of its two nodes. */
interface Shortcut<Node extends string> extends Candidate<Node> {
  readonly i: number
  readonly j: number
}

/** The cheapest candidate of every pair, by position. */
const cheapest = <Node extends string>(
  nodes: ReadonlyArray<Node>,
  candidates: ReadonlyArray<Candidate<Node>>
): ReadonlyArray<Shortcut<Node>> => {
  const position = new Map(nodes.map((node, i) => [node, i]))
  const pairs = new Map<number, Shortcut<Node>>()
  for (const { a, b, cost } of usable(nodes, candidates)) {
    const [x, y] = [position.get(a) ?? 0, position.get(b) ?? 0]
    const [i, j] = [Math.min(x, y), Math.max(x, y)]
    const key = i * nodes.length + j
    if (!pairs.has(key)) pairs.set(key, { i, j, a, b, cost })
  }
  return [...pairs].toSorted(([x], [y]) => x - y).map(([, pair]) => pair)
}

/**
 * A spanning tree and up to `budget` shortcuts. Each time the unused pair is taken whose link would save most against the
 * cheapest way so far; among equals the one with the smaller positions in `nodes`; none that saves nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { withShortcuts } from "@catenet/domain/topologies/LinkSuggestion"
 *
 * const line = [{ a: "a", b: "b", cost: 1n }, { a: "b", b: "c", cost: 1n }, { a: "c", b: "d", cost: 1n }, { a: "a", b: "d", cost: 2n }]
 * assert.deepEqual(withShortcuts(["a", "b", "c", "d"], line, 1).links.at(-1), ["a", "d"])
 * assert.equal(withShortcuts(["a", "b", "c", "d"], line, 0).links.length, 3)
 * ```
 */
export const withShortcuts = <Node extends string>(
  nodes: ReadonlyArray<Node>,
  candidates: ReadonlyArray<Candidate<Node>>,
  budget: number
): Tree<Node> => {
  const tree = spanningTree(nodes, candidates)
  const pairs = cheapest(nodes, candidates)
  const distances = new Distances(nodes.length)
  const taken = new Set<Shortcut<Node>>()
  const take = (pair: Shortcut<Node>) => {
    taken.add(pair)
    distances.link(pair.i, pair.j, pair.cost)
  }
  const inTree = new Set(tree.links.map((link) => link.join(" ")))
  for (const pair of pairs) if (inTree.has(`${pair.a} ${pair.b}`)) take(pair)

  const links = [...tree.links]
  let { totalCost } = tree
  for (let left = budget; left > 0; left--) {
    let best: Shortcut<Node> | undefined
    let bestSaving = 0n
    for (const pair of pairs) {
      const saving = taken.has(pair) ? 0n : distances.between(pair.i, pair.j) - pair.cost
      if (saving > bestSaving) [best, bestSaving] = [pair, saving]
    }
    if (best === undefined) break
    take(best)
    links.push([best.a, best.b])
    totalCost = saturatingAdd(totalCost, best.cost)
  }
  return { ...tree, links, totalCost }
}

/** The agents of a topology with what is known of the links between them. `budget` is used in shortcut mode only. */
export interface SuggestQuestion<Node extends string> {
  readonly mode: OverlayMode
  readonly agents: ReadonlyArray<Node>
  readonly links: ReadonlyArray<Candidate<Node>>
  readonly budget: number
}

/**
 * The suggestion for a topology. The errors are in the order in which they are found.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { suggest } from "@catenet/domain/topologies/LinkSuggestion"
 *
 * const request = { agents: ["b", "a"], links: [{ a: "b", b: "a", cost: 7n }], budget: 0 }
 * assert.deepEqual(Result.getOrThrow(suggest({ ...request, mode: "smart-route" })), {
 *   links: [["a", "b"]],
 *   totalCost: 7n,
 *   connected: true
 * })
 * assert.ok(Result.isFailure(suggest({ ...request, mode: "baseline" })))
 * ```
 */
export const suggest = <Node extends string>({
  agents,
  budget,
  links,
  mode
}: SuggestQuestion<Node>): Result.Result<Tree<Node>, NothingToSuggest | ShortcutBudgetTooLarge | TooManyAgents> => {
  if (mode === "baseline") return Result.fail(new NothingToSuggest())
  if (budget > maxSuggestBudget) return Result.fail(new ShortcutBudgetTooLarge({ budget }))
  if (agents.length > maxSuggestAgents) return Result.fail(new TooManyAgents({ agents: agents.length }))
  const nodes = agents.toSorted()
  return Result.succeed(mode === "shortcut" ? withShortcuts(nodes, links, budget) : spanningTree(nodes, links))
}
