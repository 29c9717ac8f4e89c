/**
 * Counts the faults of connections and reports them at most once a minute: a stranger who can cause a fault must not be able to
 * fill a log.
 */
const quietMillis = 60_000

export class FaultLog {
  readonly #now: () => number
  readonly #tell: (error: unknown, untold: number) => void
  #count = 0
  #untold = 0
  #toldAt = Number.NEGATIVE_INFINITY

  /** `tell` also gets how many faults were counted and not reported since the last call. */
  constructor(now: () => number, tell: (error: unknown, untold: number) => void) {
    this.#now = now
    this.#tell = tell
  }

  get count(): number {
    return this.#count
  }

  readonly report = (error: unknown): void => {
    this.#count += 1
    const now = this.#now()
    if (now - this.#toldAt < quietMillis) {
      this.#untold += 1
      return
    }
    const untold = this.#untold
    this.#toldAt = now
    this.#untold = 0
    this.#tell(error, untold)
  }
}
