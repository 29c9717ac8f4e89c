/** When the next attempt at a direct link is due (section 13.2). Pure arithmetic; the caller keeps the time. */

/** Delays in seconds. */
export interface Schedule {
  readonly base: number
  readonly max: number
}

/** The coordinator's own delays. */
export const coordinator: Schedule = { base: 5, max: 60 }

/** The agent's delays. */
export const agent: Schedule = { base: 1, max: 100 }

/**
 * Seconds to wait after so many failures; before the first attempt there were none.
 */
export const delay = ({ base, max }: Schedule, failures: number): number =>
  Math.min(base * 2 ** Math.min(failures, 16), max)
