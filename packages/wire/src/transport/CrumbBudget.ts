/**
 * How many small pieces visitors of one address (of IPv6 one /64) may send: each costs a turn of the loop that serves everybody,
 * whatever it brings. Who sends more is read at intervals, so that its rate is kept and no other visitor waits. Time is an argument
 * (milliseconds).
 */
import { addressBlock } from "@catenet/platform/IpAddress"

export const crumbsPerSecond = 5_000
/** So many at once before the rate counts. */
export const crumbBurst = 10_000

const intervalMillis = 1_000 / crumbsPerSecond

export class CrumbBudget {
  /** When the whole burst is there again, by address; those used last stand last. */
  readonly #restedAt = new Map<string, number>()

  /** Counts the pieces. Returns for how many milliseconds their connection is not to be read. */
  spend(address: string, pieces: number, now: number): number {
    const block = addressBlock(address)
    const restedAt = Math.max(this.#restedAt.get(block) ?? 0, now) + pieces * intervalMillis
    this.#restedAt.delete(block)
    for (const [other, at] of this.#restedAt) {
      if (at > now) break
      this.#restedAt.delete(other)
    }
    this.#restedAt.set(block, restedAt)
    return Math.max(0, restedAt - now - crumbBurst * intervalMillis)
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#restedAt.size
  }
}
