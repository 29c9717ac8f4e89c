/**
 * Current totals of the workers, from their last reports: for metrics and for the status of a tunnel. Agents are not included,
 * because every process knows the agents of the others. Empty in an edge of one process.
 */
import { Context, Effect, Layer } from "effect"
import type { WorkerReport } from "./WorkerMessages.ts"

type Held = Pick<WorkerReport, "agentConnections" | "visitors" | "connections" | "relays"> & {
  readonly parked: ReadonlyMap<string, number>
}

export class WorkerStats extends Context.Service<
  WorkerStats,
  {
    readonly sum: (what: "agentConnections" | "visitors" | "connections" | "relays") => number
    /** Parked slots of a tunnel, or of all tunnels. */
    readonly parked: (token?: string) => number
    readonly note: (worker: number, report: WorkerReport) => void
    /** Removes the totals of a worker that is gone. */
    readonly forget: (worker: number) => void
  }
>()("edge/processes/WorkerStats") {
  static readonly make = Effect.sync(() => {
    const workers = new Map<number, Held>()
    const total = (of: (held: Held) => number) => {
      let sum = 0
      for (const held of workers.values()) sum += of(held)
      return sum
    }
    const all = ({ parked }: Held) => {
      let sum = 0
      for (const slots of parked.values()) sum += slots
      return sum
    }
    return WorkerStats.of({
      sum: (what) => total((held) => held[what]),
      parked: (token) => total((held) => (token === undefined ? all(held) : (held.parked.get(token) ?? 0))),
      note: (worker, { parked, ...held }) => void workers.set(worker, { ...held, parked: new Map(parked) }),
      forget: (worker) => void workers.delete(worker)
    })
  })
  static readonly layer = Layer.effect(this, this.make)
}
