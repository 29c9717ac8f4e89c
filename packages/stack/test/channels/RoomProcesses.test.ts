/** A room of twelve as people run it: a process for each holder. What a pair costs such a process is printed. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../../src/Ports.ts"
import { ownMegabytes } from "../e2e/Memory.ts"
import { Edges, stack } from "./ChannelStack.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** Twelve processes start for as long as much else takes, so the gate has one of them beside eleven members in its own process. */
const isCampaign = process.env["CT_CAMPAIGN_ROUNDS"] !== undefined
const words = Array.from({ length: 12 }, (_, at) => `process-${at}`)
const upMillis = 60_000

interface Standing {
  readonly agent: Agent
  readonly port: number
}

const sessionsOf = async ({ port }: Standing): Promise<ReadonlyArray<string>> => {
  const status = await fetch(`http://127.0.0.1:${port}/status`).then(
    (response) => response.json() as Promise<{ channel_pairs?: ReadonlyArray<{ name: string; state: string }> }>,
    () => undefined
  )
  return (status?.channel_pairs ?? []).filter(({ state }) => state === "in-session").map(({ name }) => name)
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

layer(stack, { excludeTestServices: true, timeout: "300 seconds" })("a room of twelve processes", (it) => {
  it.effect.skipIf(!isCampaign)("comes up, and again after each in turn was killed", () =>
    Effect.gen(function* () {
      const { first, second } = yield* Edges
      const home: Home = yield* Effect.acquireRelease(Effect.promise(makeHome), (home) =>
        Effect.promise(() => home[Symbol.asyncDispose]())
      )
      const running = new Set<Agent>()
      yield* Effect.addFinalizer(() =>
        Effect.promise(async () => {
          for (const agent of running) agent.kill("SIGKILL")
          await Promise.all(Array.from(running, ({ exited }) => exited))
        })
      )
      const openRoom = Effect.fnUntraced(function* (operator: string, members: ReadonlyArray<string>) {
        const pairs = yield* RoomMembers.open(operator, members)
        return yield* Effect.forEach(members, (word, at) =>
          Effect.gen(function* () {
            const grants = RoomMembers.grantsOf(operator, pairs, word)
            const edge = at % 2 === 0 ? first : second
            const port = yield* freePort("127.0.0.1")
            const variables = yield* Effect.promise(() => RoomMembers.variablesOf(edge, home.path, word, grants))
            const env = { ...variables, CT_AGENT_METRICS_LISTEN: `127.0.0.1:${port}` }
            return (): Standing => {
              const agent = runAgent(home, env, ["channel", "room"])
              running.add(agent)
              return { agent, port }
            }
          })
        )
      })
      const allUp = (standing: ReadonlyArray<Standing>) =>
        Effect.promise(async () => {
          const from = performance.now()
          const isUp = async (member: Standing) => (await sessionsOf(member)).length === standing.length - 1
          await eventually(async () => (await Promise.all(standing.map(isUp))).every(Boolean), "all pairs", upMillis)
          return Math.round(performance.now() - from)
        })

      const members = yield* openRoom("operator", words)
      const standing = members.map((start) => start())
      const up = yield* allUp(standing)
      const again: Array<number> = []
      for (const [at, start] of members.entries()) {
        standing[at]?.agent.kill("SIGKILL")
        standing[at] = start()
        again.push(yield* allUp(standing))
      }
      const lone = (yield* openRoom("another", ["lone-0", "lone-1"])).map((start) => start())
      yield* allUp(lone)
      const memory = (all: ReadonlyArray<Standing>) => median(all.map(({ agent }) => ownMegabytes(agent.pid)))
      const [many, one] = [memory(standing), memory(lone)]
      process.stderr.write(
        `\n66 pairs of 12 processes after ${up} ms, again after a kill within ${Math.max(...again)} ms; ` +
          `${many.toFixed(1)} MB a process with 11 pairs, ${one.toFixed(1)} MB with one\n`
      )
      assert.isBelow((many - one) / 10, 1, "megabytes a pair")
    }).pipe(Effect.scoped)
  )
})
