/** Which agents report a certificate, and where visitors go if no agent of a tunnel has one any more. */
import type { AgentTarget, MuxAgent, AgentPool } from "./AgentPool.ts"

export class CertificateHolders {
  readonly #now: () => number
  readonly #returnMillis: number
  readonly #holders = new WeakSet<MuxAgent>()
  readonly #lost = new WeakMap<AgentPool, number>()

  /** `now` in milliseconds; an agent that has left may return within `returnMillis`. */
  constructor(now: () => number, returnMillis: number) {
    this.#now = now
    this.#returnMillis = returnMillis
  }

  /** The agent has arrived, has left (`isHere` is false), or reports another state. */
  note(tunnel: AgentPool, agent: MuxAgent, isHere = true): void {
    let holds = false
    for (const { certificate } of agent.certificates.values()) if (certificate === "held") holds = isHere
    if (holds) this.#holders.add(agent)
    else if (this.#holders.delete(agent)) this.#lost.set(tunnel, this.#now())
  }

  /**
   * The agents without the certificate, if no agent has or recently had it. They answer with the reason, or their origin has the
   * certificate.
   */
  lastResort(tunnel: AgentPool, target: AgentTarget): ReadonlyArray<MuxAgent> {
    if (target._tag === "Mesh" || target.needs !== "certificate") return []
    const isReturning = this.#now() - (this.#lost.get(tunnel) ?? -Infinity) < this.#returnMillis
    const { needs: _, ...others } = target
    return isReturning ? [] : tunnel.candidates(others)
  }
}
