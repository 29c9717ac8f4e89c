/**
 * How often visitors have asked, for the rate limits of all tunnels of this process. Each limit may be used up at once and comes
 * back evenly (the generic cell rate algorithm), so that a visitor is one number. Processes count for themselves.
 */
import { quotaOf } from "@catenet/domain/rules/Amount"
import type { RateCounters } from "@catenet/domain/rules/Evaluation"

/** Visitors that are remembered. When there are more, the tunnel with the most forgets those who have asked for longest ago. */
const maxRates = 65_536
/** So many are forgotten at once. */
const forgotten = 1_024

export class RateLimits {
  /** Of each tunnel, when a visitor's limit is whole again; those used last stand last. */
  readonly #tunnels = new Map<string, Map<string, number>>()
  readonly #most: number
  #size = 0

  constructor(most = maxRates) {
    this.#most = most
  }

  get size(): number {
    return this.#size
  }

  of(tunnel: string): RateCounters {
    return {
      spend: ({ per, rate }, key, now) => {
        const { count, seconds } = quotaOf(rate)
        const each = (seconds * 1_000) / count
        const burst = each * (count - 1)
        const name = `${per} ${rate} ${key}`
        const visitors = this.#tunnels.get(tunnel)
        const until = Math.max(visitors?.get(name) ?? now, now)
        // A clock that was set back costs nobody more than one whole limit.
        const whole = Math.min(until, now + burst + each)
        if (whole < until) visitors?.set(name, whole)
        const early = whole - now - burst
        // A remainder of the division is no wait.
        if (early > 0.001) return early
        this.#remember(tunnel, name, whole + each, now)
        return 0
      }
    }
  }

  #remember(tunnel: string, name: string, until: number, now: number) {
    const visitors = this.#tunnels.get(tunnel) ?? new Map<string, number>()
    this.#tunnels.set(tunnel, visitors)
    if (!visitors.delete(name)) this.#size += 1
    visitors.set(name, until)
    this.#drop(tunnel, visitors, 2, (at) => at <= now)
    if (this.#size <= this.#most) return
    let [largest, held] = [tunnel, visitors]
    for (const [each, own] of this.#tunnels) if (own.size > held.size) [largest, held] = [each, own]
    this.#drop(largest, held, Math.min(forgotten, Math.ceil(this.#most / 16)), () => true)
  }

  #drop(tunnel: string, visitors: Map<string, number>, most: number, isOver: (until: number) => boolean) {
    let left = most
    for (const [name, until] of visitors) {
      if (left-- === 0 || !isOver(until)) break
      visitors.delete(name)
      this.#size -= 1
    }
    if (visitors.size === 0) this.#tunnels.delete(tunnel)
  }
}
