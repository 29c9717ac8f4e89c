/**
 * Counts the faults of connections and reports them at most once a minute: a stranger who can cause a fault must not be able to
 * fill a log.
 */
const quietMillis = 60_000

export class FaultLog {
  readonly #now: () => number
  readonly #write: (error: unknown, unreported: number) => void
  #count = 0
  #unreported = 0
  #writtenAt = Number.NEGATIVE_INFINITY

  /** `write` also gets how many faults were counted and not reported since the last call. */
  constructor(now: () => number, write: (error: unknown, unreported: number) => void) {
    this.#now = now
    this.#write = write
  }

  get count(): number {
    return this.#count
  }

  readonly report = (error: unknown): void => {
    this.#count += 1
    const now = this.#now()
    if (now - this.#writtenAt < quietMillis) {
      this.#unreported += 1
      return
    }
    const unreported = this.#unreported
    this.#writtenAt = now
    this.#unreported = 0
    this.#write(error, unreported)
  }
}
