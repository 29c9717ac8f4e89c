/** Which agents have said that they have a certificate, and what becomes of visitors where the last of a tunnel has lost it. */
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

  /** The agent has come, has left (`isHere` is false), or says something else. */
  note(tunnel: AgentPool, agent: MuxAgent, isHere = true): void {
    let holds = false
    for (const { certificate } of agent.certificates.values()) if (certificate === "held") holds = isHere
    if (holds) this.#holders.add(agent)
    else if (this.#holders.delete(agent)) this.#lost.set(tunnel, this.#now())
  }

  /**
   * Where no agent has the certificate that is needed, and none had it lately: those that say that they have none. They answer
   * with the reason, and one that is wrong has an origin that has it.
   */
  lastResort(tunnel: AgentPool, target: AgentTarget): ReadonlyArray<MuxAgent> {
    if (target._tag === "Mesh" || target.needs !== "certificate") return []
    const isReturning = this.#now() - (this.#lost.get(tunnel) ?? -Infinity) < this.#returnMillis
    return isReturning ? [] : tunnel.candidates({ _tag: "Host", host: target.host })
  }
}
