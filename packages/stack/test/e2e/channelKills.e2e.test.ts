/** Kill -9 of each party of a channel at random points: nothing hangs, a serving member serves again, what is for one use stays so. */
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { Effect } from "effect"
import { randomInt } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../../src/Ports.ts"
import { ChannelParties, type Party, parties, ways } from "./ChannelParties.ts"

/** Three in the gate; a campaign asks for more. */
const rounds = Math.max(3, Number(process.env["CT_CAMPAIGN_ROUNDS"] ?? "0"))
/** The longest of what bounds a call that has lost its edge, its peer or its node without a word. */
const hangsMillis = 60_000
/** A call takes about a second from its start to its answer. */
const lifeMillis = 1_500

let stack: Stack
let all: ChannelParties
beforeAll(async () => {
  stack = await Stack.make()
  const nodePort = await Effect.runPromise(freePort("127.0.0.1"))
  await stack.up(["--no-demo"], {
    CT_EDGE_RELAY_UPSTREAM: `127.0.0.1:${nodePort}`,
    CT_EDGE_RELAY_NODE_PEER: "node"
  })
  all = await ChannelParties.start(stack, nodePort)
  await Promise.all(ways.map((way) => all.answered(way)))
})
afterAll(async () => {
  await all?.stop()
  await stack?.dispose()
})

/** What a program of the stack has said last. */
const endOfLog = (name: string) => {
  const file = stack.path("logs", `${name}.log`)
  return `${name}:\n${existsSync(file) ? readFileSync(file, "utf8").slice(-4_000) : "no log"}`
}

/** Those whose death hurts most come first. */
const partyOf = (round: number): Party =>
  (["edge", "server", "postgres"] as const)[round] ?? parties[randomInt(parties.length)] ?? "edge"

describe("kill -9 of a party", () => {
  it(
    `leaves a channel on which calls are answered again, ${rounds} times`,
    async () => {
      const recovery: Array<{ readonly party: Party; readonly millis: number }> = []
      let longest = 0
      for (let round = 0; round < rounds; round++) {
        const party = partyOf(round)
        const way = party === "node" ? "node" : (ways[randomInt(2)] ?? "edge")
        // Links are dear: two processes each.
        const link = round % 5 === 2 ? await all.invite() : undefined
        const caller = all.call(way)
        const from = performance.now()
        const delay = randomInt(lifeMillis)
        await sleep(delay)
        const joining = link === undefined ? Promise.resolve(1) : all.joined(link, round)
        await all.kill(party, way, caller)
        const late = setTimeout(() => caller.child.kill("SIGABRT"), hangsMillis)
        const { signal, stderr } = await caller.ended
        clearTimeout(late)
        const place = `${party} after ${delay} ms, by the ${way}`
        assert.notStrictEqual(signal, "SIGABRT", `${place}: the call hangs:\n${stderr}`)
        longest = Math.max(longest, performance.now() - from)
        assert.strictEqual(await joining, 1, `${place}: machines that used one link`)
        const millis = await all.answered(way).catch((cause: unknown) => {
          throw new Error(
            `${place}: ${String(cause)}\n${["control-plane", "postgres", "edge"].map(endOfLog).join("\n")}\n${all.words()}`
          )
        })
        recovery.push({ party, millis })
        if (rounds > 3) process.stderr.write(`round ${round + 1} of ${rounds}: ${place}\n`)
      }
      const slowest = parties.map((party) => {
        const own = recovery.filter((each) => each.party === party).map(({ millis }) => Math.round(millis))
        return `${party} ${own.length} times, answered again after ${Math.max(0, ...own)} ms at most`
      })
      process.stderr.write(`\n${slowest.join("; ")}; the longest call ${Math.round(longest)} ms\n`)
    },
    120_000 + rounds * 120_000
  )
})
