/** Backoff of a serving member before it joins again, and of programs before they are restarted. */

/** How long to wait before a command that has ended is started again: doubling, until one has run for a while. Pure. */
interface Limits {
  readonly first: number
  readonly longest: number
  /** A command that ran longer than this did not fail at startup. */
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

/** How the last attempt, or its session, ended. */
export type Outcome = "served" | "expired" | "refused" | "torn" | "flapped" | "failed"

const baseMillis = 200

/** A session that failed sooner counts as a flap. */
export const flapMillis = 500

/** The outcomes with a doubling pause, each with a limit. */
const standard = { refused: 30_000, torn: 10_000, flapped: 10_000, failed: baseMillis }
const none = { refused: 0, torn: 0, flapped: 0, failed: 0 }

const doubles = (outcome: Outcome): outcome is keyof typeof standard => Object.hasOwn(standard, outcome)

export class RejoinBackoff {
  readonly #most: typeof standard
  #counts = none

  /** `most`: limits in milliseconds, instead of the default ones. */
  constructor(most: Partial<typeof standard> = {}) {
    this.#most = { ...standard, ...most }
  }

  /** The pause after this outcome. Some outcomes double it while they repeat; a session that held resets it. */
  after(outcome: Outcome): number {
    const count = doubles(outcome) ? this.#counts[outcome] : 0
    // A session that was not refused or cut at once has made progress, unless several members share the connection.
    const isDoubling = doubles(outcome) && this.#most[outcome] > baseMillis
    this.#counts = isDoubling ? { ...this.#counts, [outcome]: count + 1 } : none
    if (!isDoubling) return outcome === "served" ? 0 : baseMillis
    return Math.min(this.#most[outcome], baseMillis * 2 ** Math.min(count, 16))
  }
}
