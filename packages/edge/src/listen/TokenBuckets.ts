/**
 * A rate for each key: as many as `perMinute` at once, refilled evenly, so that no boundary lets two bursts through. Keys
 * at rest are forgotten. Time is an argument (milliseconds).
 */
interface Bucket {
  tokens: number
  at: number
}

/** More keys than this are not remembered; the oldest are dropped, which can only admit more. */
const maxKeys = 65_536

export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>()
  readonly #perMinute: number

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Takes one; false when there is none left. */
  take(key: string, now: number): boolean {
    const bucket = this.#buckets.get(key) ?? { tokens: this.#perMinute, at: now }
    this.#buckets.delete(key)
    const refilled = bucket.tokens + (Math.max(0, now - bucket.at) / 60_000) * this.#perMinute
    const tokens = Math.min(this.#perMinute, refilled)
    const taken = tokens >= 1
    this.#buckets.set(key, { tokens: taken ? tokens - 1 : tokens, at: now })
    this.#forget()
    return taken
  }

  #forget() {
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size <= maxKeys) return
      this.#buckets.delete(key)
    }
  }
}
