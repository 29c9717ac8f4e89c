/** The cheapest way to connect nodes: a minimum spanning tree, or a forest where no tree exists, after Kruskal. */
import { Order } from "effect"

// The cost of a link from probes of it.

/**
 * The median; of an even number of probes the lower middle plus half the gap to the upper one, rounded down. Null without
 * probes. The unit is that of the probes.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { linkCost } from "@catenet/domain/topologies/SpanningTree"
 *
 * assert.equal(linkCost([30n, 10n, 20n]), 20n)
 * assert.equal(linkCost([40n, 10n, 30n, 21n]), 25n)
 * assert.equal(linkCost([]), null)
 * ```
 */
export const linkCost = (probes: ReadonlyArray<bigint>): bigint | null => {
  const sorted = probes.toSorted(Order.BigInt)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return lower === undefined || upper === undefined ? null : lower + (upper - lower) / 2n
}

/** A link that could be made; cost is an unsigned 64-bit integer without a unit. */
export interface Candidate<Node extends string = string> {
  readonly a: Node
  readonly b: Node
  readonly cost: bigint
}

/** `links` are in the order in which they were taken, each with its smaller name first. */
export interface Tree<Node extends string = string> {
  readonly links: ReadonlyArray<readonly [Node, Node]>
  readonly totalCost: bigint
  readonly connected: boolean
}

const largest = 2n ** 64n - 1n

/**
 * A sum that stops at the largest unsigned 64-bit integer.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { saturatingAdd } from "@catenet/domain/topologies/SpanningTree"
 *
 * assert.equal(saturatingAdd(2n ** 64n - 2n, 5n), 2n ** 64n - 1n)
 * ```
 */
export const saturatingAdd = (x: bigint, y: bigint): bigint => (x + y > largest ? largest : x + y)

/** By (cost, a, b). Written out: thousands of candidates are sorted in a request. */
const cheapestFirst = (x: Candidate, y: Candidate): number => {
  if (x.cost !== y.cost) return x.cost < y.cost ? -1 : 1
  if (x.a !== y.a) return x.a < y.a ? -1 : 1
  return x.b < y.b ? -1 : x.b === y.b ? 0 : 1
}

/**
 * The candidates that link two of the nodes, with their smaller name first, by (cost, smaller, larger).
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { usable } from "@catenet/domain/topologies/SpanningTree"
 *
 * const candidates = [{ a: "b", b: "a", cost: 2n }, { a: "a", b: "a", cost: 1n }, { a: "a", b: "ghost", cost: 1n }]
 * assert.deepEqual(usable(["a", "b"], candidates), [{ a: "a", b: "b", cost: 2n }])
 * ```
 */
export const usable = <Node extends string>(
  nodes: ReadonlyArray<Node>,
  candidates: ReadonlyArray<Candidate<Node>>
): ReadonlyArray<Candidate<Node>> => {
  const known = new Set(nodes)
  return candidates
    .filter(({ a, b }) => a !== b && known.has(a) && known.has(b))
    .map(({ a, b, cost }) => (a < b ? { a, b, cost } : { a: b, b: a, cost }))
    .toSorted(cheapestFirst)
}

/**
 * Takes candidates, the cheapest first, as long as each joins two parts that were apart.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { spanningTree } from "@catenet/domain/topologies/SpanningTree"
 *
 * const candidates = [{ a: "a", b: "b", cost: 1n }, { a: "b", b: "c", cost: 2n }, { a: "a", b: "c", cost: 5n }]
 * assert.deepEqual(spanningTree(["a", "b", "c"], candidates), {
 *   links: [["a", "b"], ["b", "c"]],
 *   totalCost: 3n,
 *   connected: true
 * })
 * ```
 */
export const spanningTree = <Node extends string>(
  nodes: ReadonlyArray<Node>,
  candidates: ReadonlyArray<Candidate<Node>>
): Tree<Node> => {
  const part = new Map(nodes.map((node) => [node, node]))
  const links: Array<readonly [Node, Node]> = []
  let totalCost = 0n
  for (const { a, b, cost } of usable(nodes, candidates)) {
    const [kept, merged] = [part.get(a), part.get(b)]
    if (kept === undefined || kept === merged) continue
    for (const [node, of] of part) if (of === merged) part.set(node, kept)
    links.push([a, b])
    totalCost = saturatingAdd(totalCost, cost)
  }
  return { links, totalCost, connected: links.length >= part.size - 1 }
}
