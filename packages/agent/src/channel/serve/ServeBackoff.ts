/** How long a serving member waits before it joins again. Pure: what happened goes in, milliseconds come out. */

/** What ended the last attempt, or the session that it led to. */
export type Outcome = "served" | "expired" | "refused" | "torn" | "flapped" | "failed"

const baseMillis = 200
const most = { refused: 30_000, torn: 10_000, flapped: 10_000 } as const

/** A session that failed sooner counts as a flap. */
export const flapMillis = 500

const doubles = (outcome: Outcome): outcome is keyof typeof most => Object.hasOwn(most, outcome)

export class ServeBackoff {
  #counts = { refused: 0, torn: 0, flapped: 0 }

  /** The pause after this outcome. Three kinds double while they go on; any session that held begins anew. */
  after(outcome: Outcome): number {
    if (!doubles(outcome)) {
      this.#counts = { refused: 0, torn: 0, flapped: 0 }
      return outcome === "served" ? 0 : baseMillis
    }
    const pause = Math.min(most[outcome], baseMillis * 2 ** Math.min(this.#counts[outcome], 16))
    this.#counts[outcome]++
    return pause
  }
}
