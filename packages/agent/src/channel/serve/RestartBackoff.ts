/** How long to wait before a command that has ended is started again: doubling, until one has run for a while. Pure. */

export interface Limits {
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
