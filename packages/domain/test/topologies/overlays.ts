/** Small random networks, and the naive figures that suggestions are held against. */
import { type Candidate } from "@catenet/domain/topologies/SpanningTree"
import { Schema } from "effect"
import { between } from "../values/history.ts"

export const Links = Schema.Array(Schema.Struct({ a: between(0, 5), b: between(0, 5), cost: between(0, 6) })).pipe(
  Schema.check(Schema.isMaxLength(9))
)

/** Node names; "f" is often not a node, so that some candidates name a stranger. */
export const names = ["a", "b", "c", "d", "e", "f"]

export const candidatesOf = (links: typeof Links.Type): ReadonlyArray<Candidate> =>
  links.map(({ a, b, cost }) => ({ a: names[a] ?? "", b: names[b] ?? "", cost: BigInt(cost) }))

/** How many parts the links leave the nodes in. */
export const parts = (nodes: ReadonlyArray<string>, links: ReadonlyArray<readonly [string, string]>): number => {
  const part = new Map(nodes.map((node, i) => [node, i]))
  for (const [a, b] of links) {
    const [kept, merged] = [part.get(a) ?? -1, part.get(b) ?? -1]
    for (const [node, of] of part) if (of === merged) part.set(node, kept)
  }
  return new Set(part.values()).size
}
