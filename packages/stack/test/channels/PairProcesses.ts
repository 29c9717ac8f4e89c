/** Pairs of members in processes of their own, so that neither they nor the control plane wait for each other's work. */
import type * as Members from "@catenet/testing/edge/Members"
import { once } from "node:events"
import * as Service from "../../bench/data/Service.ts"
import type * as Pairs from "./Pairs.ts"
import type { Order, Outcome, PairsOptions } from "./pairsService.ts"

interface Said {
  readonly members: ReadonlyArray<Members.Row>
}

export class PairProcesses {
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
