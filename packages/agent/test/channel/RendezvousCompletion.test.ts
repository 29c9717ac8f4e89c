/** The leg of a rendezvous at an edge that does not say whether it closes it, with a clock that is the test's. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { duplexPair } from "node:stream"
import { setImmediate } from "node:timers/promises"
import * as RelayKeepAlive from "../../src/channel/session/RelayKeepAlive.ts"

const acknowledgement = { peerEndpoint: "relay-only", observed: "192.0.2.1:5", samePublicIp: false }
type Said = "peer" | "close" | undefined

const settled = Effect.promise(async () => {
  for (let turns = 0; turns < 8; turns++) await setImmediate()
})

/** What it is taken for when so much time has passed and the other end has done that. */
const after = (isMarked: boolean, next: Said, speaksFirst: boolean, millis: number, what: "byte" | "end" | "nothing") =>
  Effect.gen(function* () {
    const [stream, other] = duplexPair()
    const leg = { isMarked, stream, acknowledgement: { ...acknowledgement, ...(next === undefined ? {} : { next }) } }
    const fiber = yield* Effect.forkChild(
      RelayKeepAlive.of(leg as Parameters<typeof RelayKeepAlive.of>[0], speaksFirst)
    )
    yield* settled
    yield* TestClock.adjust(millis)
    if (what === "byte") other.write("x")
    if (what === "end") other.end()
    yield* settled
    const exit = fiber.pollUnsafe()
    return exit === undefined ? "waiting" : exit._tag === "Success" ? exit.value : exit
  })

describe("the leg of a rendezvous", () => {
  it.effect.each([
    { what: "in no phase, to the one who speaks first", given: [false, "peer", true, 0, "nothing"], is: "unsaid" },
    { what: "in no phase, to the one who waits", given: [false, undefined, false, 0, "nothing"], is: "spliced" },
    { what: "of which the edge says that it stays", given: [true, "peer", true, 0, "nothing"], is: "spliced" },
    { what: "of which the edge says that it closes it", given: [true, "close", false, 0, "nothing"], is: "closed" },
    {
      what: "that is silent, to the one who speaks first",
      given: [true, undefined, true, 999, "nothing"],
      is: "waiting"
    },
    { what: "that stays silent, to that one", given: [true, undefined, true, 1_000, "nothing"], is: "unsaid" },
    { what: "that is closed late, to the one who waits", given: [true, undefined, false, 9_999, "end"], is: "closed" },
    { what: "on which the peer speaks late", given: [true, undefined, false, 9_999, "byte"], is: "spliced" },
    { what: "on which no word has come in time", given: [true, undefined, false, 10_000, "nothing"], is: "closed" },
    { what: "that is closed at once", given: [true, undefined, true, 0, "end"], is: "closed" }
  ] as const)("$what is $is", ({ given, is }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* after(given[0], given[1], given[2], given[3], given[4]), is)
    })
  )
})
