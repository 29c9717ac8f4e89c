/** 200 pairs of members at one edge, half of them coming and going: bytes are equal at both ends, and nothing grows. */
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import type * as Members from "@catenet/testing/edge/Members"
import { eventually } from "@catenet/testing/Eventually"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, it } from "vitest"
import { Relay } from "../../bench/data/Relay.ts"
import * as Service from "../../bench/data/Service.ts"
import { residentMegabytes } from "../e2e/Memory.ts"
import type * as Pairs from "./Pairs.ts"
import type { Order, Outcome, PairsOptions } from "./pairsService.ts"

/** Pairs of members in processes of their own, so that neither they nor the control plane wait for each other's work. */
interface Said {
  readonly members: ReadonlyArray<Members.Row>
}

class PairProcesses {
  readonly #services: ReadonlyArray<Service.Service<Said>>

  private constructor(services: ReadonlyArray<Service.Service<Said>>) {
    this.#services = services
  }

  static async start(place: Pairs.Place, count: number, processes: number): Promise<PairProcesses> {
    const file = new URL("pairsService.ts", import.meta.url)
    const options: PairsOptions = { place, count: count / processes }
    return new PairProcesses(
      await Promise.all(Array.from({ length: processes }, () => Service.start<Said>(file, options)))
    )
  }

  get members(): ReadonlyArray<Members.Row> {
    return this.#services.flatMap(({ said }) => said.members)
  }

  /** Runs all until the signal; rejects as soon as one pair fails. */
  async run(pauseMillis: number, signal: AbortSignal): Promise<Pairs.Seen> {
    const tell = (order: Order) => this.#services.forEach(({ child }) => child.connected && child.send(order))
    const outcomes = this.#services.map(async ({ child }) => {
      const [outcome]: Array<Outcome | number> = await Promise.race([once(child, "message"), once(child, "exit")])
      if (typeof outcome !== "object") throw new Error(`the members' process ended with ${String(outcome)}`)
      if ("failed" in outcome) throw new Error(outcome.failed)
      return outcome.seen
    })
    signal.addEventListener("abort", () => tell("stop"), { once: true })
    tell({ pauseMillis })
    const seen = await Promise.all(outcomes)
    const sum = (key: keyof Pairs.Seen) => seen.reduce((total, of) => total + of[key], 0)
    return { sessions: sum("sessions"), bytes: sum("bytes"), again: sum("again") }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()))
  }
}

/** 15 seconds in the gate, at a quarter of the pace; the campaign runs 30 minutes. */
const asked = process.env["CATENET_CHANNEL_SOAK_SECONDS"]
const seconds = Number(asked ?? 15)
const pauseMillis = asked === undefined ? 1_000 : 250
const pairs = 200
const processes = 2
const everyMillis = 500

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

it.skipIf(process.platform !== "linux")(
  `${pairs} pairs talk for ${seconds} s`,
  async () => {
    const life = await Effect.runPromise(Scope.make())
    const controlPlane = await Effect.runPromise(startControlPlane.pipe(Scope.provide(life)))
    const relay = await Relay.make({
      CT_EDGE_CP_URL: controlPlane.url,
      CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS: "0",
      CT_EDGE_METRICS_LISTEN: "127.0.0.1:0"
    })
    const place = { frontDoor: relay.ports.frontDoor, meshRoot: relay.meshRoot }
    const members = await PairProcesses.start(place, pairs, processes)
    try {
      for (const [key, row] of members.members) controlPlane.members.set(key, row)
      const edge = relay.edge.child.pid ?? -1
      const during = async (millis: number) => {
        const stop = new AbortController()
        const running = members.run(pauseMillis, stop.signal)
        running.catch(() => stop.abort())
        const samples: Array<number> = []
        const end = performance.now() + millis
        while (performance.now() < end && !stop.signal.aborted) {
          await sleep(everyMillis)
          samples.push(residentMegabytes(edge))
        }
        stop.abort()
        const seen = await running.catch((cause: unknown) => {
          throw new Error(`after ${samples.length} samples: ${String(cause)}\n${relay.edge.stderr.slice(-8_000)}`)
        })
        return { samples, seen }
      }
      // What is filled once: compiled code, pools, the heap's working size.
      await during(Math.min(60, seconds / 6) * 1_000)
      const before = descriptorsOf(edge)
      const { samples, seen } = await during(seconds * 1_000)
      const quarter = Math.floor(samples.length / 4)
      const early = median(samples.slice(quarter, 2 * quarter))
      const late = Math.min(...samples.slice(-quarter))
      process.stderr.write(`\n${JSON.stringify({ ...seen, early, late, descriptors: before })}\n`)
      assert.isAtLeast(seen.sessions, pairs, "each pair has met")
      assert.isAtLeast(seen.bytes, pairs * 32 * 1024, "and has talked")
      assert.isBelow(late, early * 1.1 + 10, "memory")
      await eventually(() => descriptorsOf(edge) <= before + 4, "every connection is closed")
    } finally {
      await members.stop()
      await relay.dispose()
      await Effect.runPromise(Scope.close(life, Exit.void))
    }
  },
  (seconds * 2 + 240) * 1_000
)
