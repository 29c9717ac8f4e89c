/** How long a serving member waits before it joins again. Pure: what happened goes in, milliseconds come out. */

/** How long to wait before a command that has ended is started again: doubling, until one has run for a while. Pure. */
interface Limits {
  readonly first: number
  readonly longest: number
  /** A command that ran for more than this is no failure of its start. */
  readonly steady: number
}

export class RestartBackoff {
  readonly #limits: Limits
  #next: number
  constructor(limits: Limits) {
    this.#limits = limits
    this.#next = limits.first
  }

  /** The pause in milliseconds after a run of this many. */
  after(ranMillis: number): number {
    const { first, longest, steady } = this.#limits
    const pause = ranMillis > steady ? first : this.#next
    this.#next = Math.min(longest, pause * 2)
    return pause
  }
}

/** What ended the last attempt, or the session that it led to. */
export type Outcome = "served" | "expired" | "refused" | "torn" | "flapped" | "failed"

const baseMillis = 200

/** A session that failed sooner counts as a flap. */
export const flapMillis = 500

/** The kinds whose pause doubles, each up to its own bound. */
const standard = { refused: 30_000, torn: 10_000, flapped: 10_000, failed: baseMillis }
const none = { refused: 0, torn: 0, flapped: 0, failed: 0 }

const doubles = (outcome: Outcome): outcome is keyof typeof standard => Object.hasOwn(standard, outcome)

export class RejoinBackoff {
  readonly #most: typeof standard
  #counts = none

  /** `most` are other bounds than the usual ones, in milliseconds. */
  constructor(most: Partial<typeof standard> = {}) {
    this.#most = { ...standard, ...most }
  }

  /** The pause after this outcome. Some kinds double while they go on; any session that held begins anew. */
  after(outcome: Outcome): number {
    const count = doubles(outcome) ? this.#counts[outcome] : 0
    // What was not refused, torn or at once over has got somewhere, unless several members share the way.
    const isDoubling = doubles(outcome) && this.#most[outcome] > baseMillis
    this.#counts = isDoubling ? { ...this.#counts, [outcome]: count + 1 } : none
    if (!isDoubling) return outcome === "served" ? 0 : baseMillis
    return Math.min(this.#most[outcome], baseMillis * 2 ** Math.min(count, 16))
  }
}
