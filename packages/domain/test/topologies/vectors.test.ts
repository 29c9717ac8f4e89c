/** The published vectors of everything that needs no signature. */
import { commit, type Commitments, takes } from "@catenet/domain/agents/Matching"
import { linkCost } from "@catenet/domain/topologies/SpanningTree"
import { spanningTree } from "@catenet/domain/topologies/SpanningTree"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readFileSync } from "node:fs"
import { auctionView, matchPipeline, noTurns, type Offering, type Turns } from "../../src/agents/PipelineMatching.ts"
import { suggest, withShortcuts } from "../../src/topologies/LinkSuggestion.ts"

interface Vector {
  readonly id: string
  readonly kind: string
  readonly input: any
  readonly expect: any
}

const vectorsOf = (file: string): ReadonlyArray<Vector> =>
  JSON.parse(readFileSync(new URL(`../../../crypto/test/vectors/${file}.json`, import.meta.url), "utf8")).vectors

/** Runs every vector of a file whose kind has a runner; the kinds left out are named, so that a new one fails. */
const run = (file: string, runners: Record<string, (vector: Vector) => void>, elsewhere: ReadonlyArray<string>) =>
  describe(file, () => {
    for (const vector of vectorsOf(file)) {
      const runner = runners[vector.kind]
      if (runner !== undefined) it(vector.id, () => runner(vector))
      else it(`${vector.id} is run elsewhere`, () => assert.include(elsewhere, vector.kind))
    }
  })

const candidates = (input: any) => input.candidates.map((c: any) => ({ a: c.a, b: c.b, cost: BigInt(c.cost) }))
const tree = (expected: any) => ({
  links: expected.links,
  totalCost: BigInt(expected.total_cost),
  connected: expected.connected
})

run(
  "overlay",
  {
    tree: ({ expect, input }) =>
      assert.deepStrictEqual<unknown>(spanningTree(input.nodes, candidates(input)), tree(expect)),
    "tree-and-shortcuts": ({ expect, input }) =>
      assert.deepStrictEqual<unknown>(withShortcuts(input.nodes, candidates(input), input.budget), tree(expect)),
    "link-cost": ({ expect }) => {
      for (const { cost, probes } of expect.cases)
        assert.strictEqual(linkCost(probes.map(BigInt)), cost === null ? null : BigInt(cost))
    },
    suggest: ({ expect }) => {
      const agents = Array.from({ length: expect.inclusive.agents }, (_, i) => `${i}`)
      const ask = { mode: "shortcut", agents, links: [], budget: expect.inclusive.budget } as const
      assert.isTrue(Result.isSuccess(suggest(ask)))
      assert.isTrue(Result.isFailure(suggest({ ...ask, budget: ask.budget + 1 })))
      assert.isTrue(Result.isFailure(suggest({ ...ask, agents: [...agents, "one more"] })))
    }
  },
  ["parse-mode"]
)

const keys = new Map<string, string>(
  vectorsOf("convene")
    .find(({ kind }) => kind === "table")
    ?.expect.seeds_sorted_by_public_key.map((row: any) => [row.name, row.holder])
)
const offer = (o: any): Offering & { readonly seed: string } => ({
  seed: o.label ?? o.holder,
  holder_pubkey: keys.get(o.holder) ?? "",
  services: o.services ?? ["TextGeneration"],
  units_available: BigInt(o.units_available),
  min_price: BigInt(o.min_price),
  expires_at: BigInt(o.expires_at ?? 1000)
})
const rounds = (input: any, phase: any, start: Turns) => {
  let turns = start
  const roles = input.spec.roles.map((role: any) => ({ ...role, units: BigInt(role.units) }))
  const seen = Array.from({ length: phase.rounds ?? 1 }, () => {
    const ran = matchPipeline(
      roles,
      (phase.offers as ReadonlyArray<any>).map(offer),
      input.policy ?? "LowestFloor",
      turns,
      BigInt(input.now)
    )
    ;({ turns } = ran)
    return Result.match(ran.answer, {
      onSuccess: (assignments) => ({
        assignments: assignments.map((one) => ({
          service: one.role.service,
          provider: one.offer.seed,
          units: Number(one.role.units),
          price: Number(one.offer.min_price)
        }))
      }),
      onFailure: (refusal) =>
        refusal._tag === "NoRoles" ? { error: "Empty" } : { error: refusal._tag, service: refusal.role.service }
    })
  })
  return { seen, turns }
}

run(
  "convene",
  {
    convene: ({ expect, input }) => assert.deepStrictEqual<unknown>(rounds(input, input, noTurns).seen, expect.rounds),
    "convene-two-phases": ({ expect, input }) => {
      let turns = noTurns
      for (const phase of ["first", "then", "last"].filter((name) => name in input)) {
        const ran = rounds(input, input[phase], turns)
        assert.deepStrictEqual<unknown>(ran.seen, expect[phase])
        ;({ turns } = ran)
      }
    },
    table: () => assert.deepStrictEqual([...keys.values()], [...keys.values()].toSorted()),
    "auction-view": ({ expect, input }) => {
      const offers = input.offers.map(offer)
      const roles = input.spec.roles.map((role: any) => ({ ...role, units: BigInt(role.units) }))
      const { answer } = matchPipeline(roles, offers, input.policy, noTurns, BigInt(input.now))
      const view = auctionView(Result.getOrThrow(answer), offers, BigInt(input.now))
      const labelled = view.map(({ bids, role }) => ({
        role,
        bids: bids.map((bid) => ({
          who: offers.find((o: any) => o.holder_pubkey === bid.who).seed,
          units: Number(bid.units),
          price: Number(bid.price),
          win: bid.win
        }))
      }))
      assert.deepStrictEqual<unknown>(labelled, expect.view)
    }
  },
  ["role-match-ref", "spec-parse", "spec-role-channel"]
)

const terms = (record: any) => ({
  ...record,
  units: BigInt(record.units ?? 0),
  units_available: BigInt(record.units_available ?? 0),
  min_price: BigInt(record.min_price ?? 0),
  total_price: BigInt(record.total_price ?? 0),
  expires_at: BigInt(record.expires_at ?? 0)
})

run(
  "offer-bid-match",
  {
    match: ({ expect, id, input }) => {
      const taken = takes(terms(input.offer), terms(input.bid), BigInt(input.now))
      // The forged bid is refused for its signature alone.
      assert.strictEqual(taken, expect.match !== null || id === "match-forged-bidder")
    },
    commitments: ({ expect, input }) => {
      let book: Commitments = new Map()
      const seen = input.steps.map(([name, units]: [string, number | string]) => {
        const one = terms(input.offers[name])
        const next = commit(book, one, BigInt(units))
        book = next ?? book
        return { accepted: next !== null, remaining: one.units_available - (book.get(one.signature) ?? 0n) }
      })
      assert.deepStrictEqual(
        seen.map((s: any) => s.accepted),
        expect.accepted
      )
      assert.deepStrictEqual(
        seen.map((s: any) => Number(s.remaining)),
        expect.remaining_after
      )
    }
  },
  ["offer-bytes", "bid-bytes", "offer", "bid", "verify-offer"]
)
