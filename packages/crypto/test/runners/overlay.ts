import { suggest, withShortcuts } from "@catenet/domain/topologies/LinkSuggestion"
import { linkCost } from "@catenet/domain/topologies/SpanningTree"
import { spanningTree, type Tree } from "@catenet/domain/topologies/SpanningTree"
import { OverlayMode } from "@catenet/domain/topologies/Topology"
import { assert } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { Runners } from "./runner.ts"

const candidates = (input: any) =>
  input.candidates.map((candidate: any) => ({ ...candidate, cost: BigInt(candidate.cost) }))

const same = ({ links, totalCost, connected }: Tree, expect: any) =>
  assert.deepStrictEqual(
    { links, total_cost: totalCost, connected },
    { links: expect.links, total_cost: BigInt(expect.total_cost), connected: expect.connected }
  )

export const overlay: Runners = {
  tree: ({ input, expect }) => same(spanningTree(input.nodes, candidates(input)), expect),
  "tree-and-shortcuts": ({ input, expect }) =>
    same(withShortcuts(input.nodes, candidates(input), input.budget), expect),
  "link-cost": ({ expect }) => {
    for (const { probes, cost } of expect.cases) {
      assert.strictEqual(linkCost(probes.map(BigInt)), cost === null ? null : BigInt(cost))
    }
  },
  "parse-mode": ({ expect }) => {
    const parse = Schema.decodeUnknownResult(OverlayMode)
    for (const [text, mode] of expect.accepted) assert.strictEqual(Result.getOrThrow(parse(text)), mode)
    for (const text of expect.refused) assert.isTrue(Result.isFailure(parse(text)))
    assert.strictEqual(Result.getOrThrow(parse(expect.default)), "baseline")
  },
  suggest: ({ expect }) => {
    const { budget, agents } = expect.inclusive
    const names = (count: number) => Array.from({ length: count }, (_, i) => `agent-${i}`)
    const tag = (mode: OverlayMode, count: number, shortcuts: number) =>
      Result.match(suggest({ mode, agents: names(count), links: [], budget: shortcuts }), {
        onSuccess: () => "ok",
        onFailure: (refusal): string => refusal._tag
      })
    assert.strictEqual(tag("shortcut", agents, budget), "ok")
    assert.strictEqual(tag("baseline", agents + 1, budget + 1), "NothingToSuggest")
    assert.strictEqual(tag("shortcut", agents + 1, budget + 1), "ShortcutBudgetTooLarge")
    assert.strictEqual(tag("shortcut", agents + 1, budget), "TooManyAgents")
    assert.deepStrictEqual(expect.order.slice(1), ["409 mode baseline", "400 budget above 16", "400 agents above 64"])
  }
}
