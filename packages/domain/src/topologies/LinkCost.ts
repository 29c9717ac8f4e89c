/** The cost of a link from probes of it. */
import { Order } from "effect"

/**
 * The median; of an even number of probes the lower middle plus half the gap to the upper one, rounded down. Null without
 * probes. The unit is that of the probes.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { linkCost } from "@catenet/domain/topologies/LinkCost"
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
