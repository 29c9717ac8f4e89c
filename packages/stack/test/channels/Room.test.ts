/** A room of twelve: every pair comes up, in any order of its members, and comes up again after its member was killed. */
import { type Agent, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomInt } from "node:crypto"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { freePort } from "../../src/Ports.ts"
import { Edges, stack } from "./ChannelStack.ts"
import * as RoomMembers from "./RoomMembers.ts"

const words = Array.from({ length: 12 }, (_, at) => `holder-${at}`)

/** In an order that no run repeats. */
const shuffled = <A>(items: ReadonlyArray<A>) =>
  items
    .map((item) => ({ item, at: randomInt(2 ** 32) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)

interface Status {
  readonly healthy: boolean
  readonly channel_pairs: ReadonlyArray<{ readonly name: string; readonly state: string; readonly sessions: number }>
}

layer(Layer.merge(stack, AgentMetrics.layer), { excludeTestServices: true, timeout: "120 seconds" })(
  "a room of twelve",
  (it) => {
    it.effect("comes up in any order, and again after a member was killed, which the others call by its name", () =>
      Effect.gen(function* () {
        const { first, second } = yield* Edges
        const pairs = yield* RoomMembers.open("operator", words)
        assert.strictEqual(pairs.length, 66)
        const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (home) =>
          Effect.promise(() => home[Symbol.asyncDispose]())
        )
        const port = yield* freePort("127.0.0.1")
        const [other = "", ...here] = shuffled(words)
        const variables = new Map(
          yield* Effect.forEach(words, (word, at) =>
            Effect.promise(async () => {
              const grants = RoomMembers.grantsOf("operator", pairs, word)
              const edge = at % 2 === 0 ? first : second
              return [word, await RoomMembers.variablesOf(edge, home.path, word, grants)] as const
            })
          )
        )
        const variablesOf = (word: string) => variables.get(word) ?? assert.fail(word)

        const began = performance.now()
        const standing = yield* Effect.forEach(here, (word) => RoomMembers.stand(variablesOf(word)))
        const allUp = (without = "") =>
          standing.every((member, at) => {
            const expected = words.filter((word) => word !== here[at] && word !== without)
            return expected.every((word) => RoomMembers.inSession(member).includes(word))
          })
        yield* Effect.promise(() => eventually(() => allUp(other), "the pairs of those who are there"))
        const took = performance.now() - began

        const run = () =>
          runAgent(
            home,
            {
              ...variablesOf(other),
              CT_AGENT_METRICS_LISTEN: `127.0.0.1:${port}`,
              CT_AGENT_SERVICE_HANDLER_CMD: "tr a-z A-Z",
              CT_AGENT_SERVICES: "text_generation"
            },
            ["channel", "room"]
          )
        const statusOf = async () => (await (await fetch(`http://127.0.0.1:${port}/status`)).json()) as Status
        const killed: Agent = run()
        yield* Effect.promise(() => eventually(() => allUp(), "the pairs of the last one"))
        killed.kill("SIGKILL")
        yield* Effect.promise(() => killed.exited)
        yield* Effect.promise(() =>
          eventually(
            () => standing.every((member) => !RoomMembers.inSession(member).includes(other)),
            "its peers know that it is gone"
          )
        )
        assert.isTrue(allUp(other), "the other pairs go on")
        yield* Effect.promise(async () => {
          await using again = run()
          await eventually(() => allUp(), "all pairs again")
          await eventually(async () => (await statusOf()).healthy, "it says so itself")
          const status = await statusOf()
          assert.sameMembers(
            status.channel_pairs.map(({ name, sessions, state }) => `${name} ${state} ${sessions}`),
            here.map((word) => `${word} in-session 1`)
          )
          const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
          assert.include(metrics, 'ct_agent_channel_pairs{state="in-session"} 11')

          // By the room that runs here, to one of this process; and from elsewhere, past the room of the caller.
          const [peer = ""] = here
          const ping = { CT_CHANNEL_CALL: "tools/call", CT_CHANNEL_CALL_PARAMS: '{"name":"ping"}' }
          await using asks = runAgent(home, { ...variablesOf(other), ...ping }, ["channel", "room", keyOf(peer)])
          assert.strictEqual(await asks.exited, 0, asks.lines.join("\n"))
          assert.strictEqual(asks.stdout(), '{"jsonrpc":"2.0","id":2,"result":{"reply":"pong"}}\n')
          const service = { ...variablesOf(peer), CT_CHANNEL_CALL_SERVICE: "text_generation" }
          await using calls = runAgent(home, service, ["channel", "room", other], "hello")
          assert.strictEqual(await calls.exited, 0, calls.lines.join("\n"))
          assert.strictEqual(calls.stdout(), "HELLO\n")
          assert.isTrue(again.lines.every((line) => !line.includes("error")))
        })
        assert.isBelow(took, onThisMachine(30_000), "milliseconds until 55 pairs talk")
      }).pipe(Effect.scoped)
    )
  }
)
