/** The increments of a worker's counters since its last report. The main process adds them up. */
import type { AuditRow } from "../audit/AuditLog.ts"
import type { ConnectionLimiter, ShedReason } from "../listen/ConnectionLimiter.ts"
import * as Counters from "../observe/Counters.ts"
import type { AgentPool } from "../sessions/AgentPool.ts"
import type { AgentSessions } from "../sessions/AgentSessions.ts"
import type { WorkerReport } from "./WorkerMessages.ts"

interface Sources {
  readonly counters: Counters.Counters["Service"]
  readonly agents: AgentSessions["Service"]
  readonly limiter: ConnectionLimiter
  readonly audit: Array<AuditRow>
}

type Sheds = WorkerReport["sheds"]

const shedReasons: ReadonlyArray<ShedReason> = ["connections", "address", "descriptors"]

export class MetricsDelta {
  readonly #sources: Sources
  #counted: ReadonlyMap<string, number> = new Map()
  /** By tunnel and not by token: a tunnel that was dropped and comes back starts at zero. */
  readonly #traffic = new WeakMap<AgentPool, { readonly in: number; readonly out: number; readonly visits: number }>()
  readonly #shed = new Map<string, number>()

  constructor(sources: Sources) {
    this.#sources = sources
  }

  /** The increments since the last call. */
  take(): Pick<WorkerReport, "counted" | "traffic" | "sheds" | "audit" | "parked"> {
    return {
      counted: this.#count(),
      traffic: this.#moved(),
      sheds: this.#turnedAway(),
      audit: this.#sources.audit.splice(0),
      parked: Array.from(this.#sources.agents.all()).flatMap(({ parked, token }) =>
        parked === 0 ? [] : [[token, parked] as const]
      )
    }
  }

  #count() {
    const now = new Map(Object.entries(Counters.flat(this.#sources.counters)))
    const since = Array.from(now, ([name, value]) => [name, value - (this.#counted.get(name) ?? 0)] as const)
    this.#counted = now
    return Object.fromEntries(since.filter(([, value]) => value !== 0))
  }

  #moved() {
    const moved: Array<readonly [string, number, number, number]> = []
    for (const tunnel of this.#sources.agents.all()) {
      const { token, traffic, visits } = tunnel
      const before = this.#traffic.get(tunnel) ?? { in: 0, out: 0, visits: 0 }
      if (traffic.aToB === before.in && traffic.bToA === before.out && visits === before.visits) continue
      moved.push([token, traffic.aToB - before.in, traffic.bToA - before.out, visits - before.visits])
      this.#traffic.set(tunnel, { in: traffic.aToB, out: traffic.bToA, visits })
    }
    return moved
  }

  #turnedAway(): Sheds {
    return Array.from(this.#sources.limiter.sheds).flatMap(([listener, counts]) =>
      shedReasons.flatMap((reason) => {
        const key = `${listener} ${reason}`
        const since = counts[reason] - (this.#shed.get(key) ?? 0)
        this.#shed.set(key, counts[reason])
        return since === 0 ? [] : [[listener, reason, since] as const]
      })
    )
  }
}
