/** Filling roles from the books of real offers: who is left out, what is bid, and what is remembered from run to run. */
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import { PipelineSpec } from "@catenet/domain/agents/Pipeline"
import { noTurns, type Turns } from "@catenet/domain/agents/PipelineMatching"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, References, Result, Schema } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isObject } from "../../src/channel/rpc/Tool.ts"
import { OfferBook } from "../../src/channel/serve/OfferBook.ts"
import * as PipelineMatch from "../../src/pipeline/PipelineMatch.ts"
import { type RoleProvider, ProviderFailed } from "../../src/pipeline/RoleProvider.ts"
import * as SelectionHistory from "../../src/pipeline/SelectionHistory.ts"

const consumer = Redacted.make(new Uint8Array(32).fill(9))
const caller = { noiseKey: new Uint8Array(32).fill(3), rights: "rw" as const }
/** As the clock of the tests has it. */
const now = 0n

/** A provider with a book of its own; what it answers to a bid may be changed on the way. */
const providerOf = (
  seed: number,
  price: bigint,
  units = 100n,
  change = (match: Record<string, Json.Json>): Json.Json => match
): RoleProvider => {
  const terms = { kind: "LocalHardware", models: ["m"], currencyId: "EUR", services: ["TextGeneration"] } as const
  const book = new OfferBook(
    { ...terms, unitsAvailable: units, minPrice: price, ttlSecs: 1000, limit: { bids: 60, window: 60 } },
    Redacted.make(new Uint8Array(32).fill(seed))
  )
  const offer = book.current(now)
  return {
    holder: Hex.encode(offer.holder),
    offer,
    call: (tool, args) => {
      assert.strictEqual(tool, "auction/bid")
      const match = book.bid(args, caller, now)
      if (Result.isFailure(match)) return Effect.fail(new ProviderFailed({ why: match.failure.message }))
      return Effect.succeed(change(isObject(match.success) ? { ...match.success } : {}))
    }
  }
}

const specOf = (tags: ReadonlyArray<string>, selection_policy = "LowestFloor", units = 1) =>
  Schema.decodeUnknownSync(PipelineSpec)({
    id: "p",
    roles: tags.map((tag) => ({ tag, units, service: "TextGeneration" })),
    selection_policy
  })

const quietly = Effect.provideService(References.MinimumLogLevel, "None")
const run = (spec: PipelineSpec, providers: Record<string, ReadonlyArray<RoleProvider>>, turns: Turns = noTurns) =>
  quietly(PipelineMatch.run(spec, new Map(Object.entries(providers)), consumer, turns))
const chosen = ({ answer }: Effect.Success<ReturnType<typeof run>>) =>
  Result.getOrThrow(answer).map(({ provider, role }) => [role.tag, provider.holder])

describe("a run of convening", () => {
  it.effect("takes for each role only those who were met on its channel, and none twice", () =>
    Effect.gen(function* () {
      const [both, dear] = [providerOf(1, 1n), providerOf(2, 9n)]
      const first = yield* run(specOf(["a", "b"]), { a: [both, dear], b: [both, dear] })
      assert.deepStrictEqual(chosen(first), [
        ["a", both.holder],
        ["b", dear.holder]
      ])
      const apart = yield* run(specOf(["a", "b"]), { a: [dear], b: [both] })
      assert.deepStrictEqual(chosen(apart), [
        ["a", dear.holder],
        ["b", both.holder]
      ])
      const { answer } = yield* run(specOf(["a", "b"]), { a: [both], b: [both] })
      assert.deepStrictEqual(Result.getOrThrow(Result.flip(answer)), { tag: "b", units: 1n, refused: 0 })
    })
  )

  it.effect("leaves out who does not take the bid, or answers with another match than was bid", () =>
    Effect.gen(function* () {
      const honest = providerOf(1, 9n)
      const changes: ReadonlyArray<Record<string, Json.Json>> = [
        { total_price: 2n },
        { units: 2n },
        { match_ref: "00".repeat(32) },
        { consumer: "00".repeat(32) },
        { model: "n" }
      ]
      const liars = changes.map((change, at) => providerOf(10 + at, 1n, 100n, (match) => ({ ...match, ...change })))
      const mute = providerOf(20, 1n, 100n, () => "no object")
      const all = yield* run(specOf(["a"]), { a: [...liars, mute, honest] })
      assert.deepStrictEqual(chosen(all), [["a", honest.holder]])
      const { answer } = yield* run(specOf(["a"]), { a: [...liars, mute] })
      assert.deepStrictEqual(Result.getOrThrow(Result.flip(answer)), { tag: "a", units: 1n, refused: 6 })
      // Who has promised all its units is asked, and says no.
      const small = providerOf(30, 1n, 3n)
      const rounds = yield* Effect.forEach([1, 2], () => run(specOf(["a"], "LowestFloor", 2), { a: [small, honest] }))
      assert.deepStrictEqual(rounds.flatMap(chosen), [
        ["a", small.holder],
        ["a", honest.holder]
      ])
    })
  )

  it.effect("counts a turn for the one that took the bid, not for those that were left out", () =>
    Effect.gen(function* () {
      const [poor, rich] = [providerOf(1, 1n, 1n), providerOf(2, 2n)]
      const offered = { a: [poor, rich] }
      const one = yield* run(specOf(["a"], "LeastCalls"), offered)
      const two = yield* run(specOf(["a"], "LeastCalls"), offered, one.turns)
      const three = yield* run(specOf(["a"], "LeastCalls"), offered, two.turns)
      assert.deepStrictEqual([one, two, three].flatMap(chosen), [
        ["a", poor.holder],
        ["a", rich.holder],
        ["a", rich.holder]
      ])
      assert.deepStrictEqual(
        [...three.turns.served],
        [
          [poor.holder, 1],
          [rich.holder, 2]
        ]
      )
    })
  )
})

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "turns-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true }))
)
const operator = native.ed25519.publicKey(new Uint8Array(32).fill(8))

describe("the turns of a pipeline", () => {
  it.live("are kept for runs at the same time, apart for each pipeline, and begin anew where they cannot be read", () =>
    Effect.gen(function* () {
      const stateDir = yield* folder
      const count = (id: string) =>
        SelectionHistory.using(stateDir, { id, operator }, ({ last, served }) =>
          Effect.as(Effect.yieldNow, {
            turns: { last: new Map(last).set("r", "h"), served: new Map(served).set("h", (served.get("h") ?? 0) + 1) },
            answer: served.get("h") ?? 0
          })
        )
      const counts = yield* Effect.all(
        Array.from({ length: 8 }, () => count("p")),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(counts.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7])
      assert.strictEqual(yield* count("__proto__"), 0)
      const names = readdirSync(join(stateDir, "pipelines")).filter((name) => name.endsWith(".json"))
      assert.lengthOf(names, 2)
      const path = names
        .map((name) => join(stateDir, "pipelines", name))
        .find((each) => readFileSync(each, "utf8").includes("8"))
      assert.strictEqual(statSync(path ?? "").mode & 0o777, 0o600)
      assert.strictEqual(readFileSync(path ?? "", "utf8"), '{"last":[["r","h"]],"served":[["h",8]]}')
      for (const text of ["", "{", '{"last":[]}', '{"last":[["r"]],"served":[]}', '{"last":[],"served":[["h","8"]]}']) {
        writeFileSync(path ?? "", text)
        assert.strictEqual(yield* quietly(count("p")), 0, text)
      }
      // A run that fails leaves them as they were.
      const failed = SelectionHistory.using(stateDir, { id: "p", operator }, () => Effect.fail("no" as const))
      assert.strictEqual(yield* Effect.flip(failed), "no")
      assert.strictEqual(yield* count("p"), 1)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
