/**
 * A rate for each key, in the memory of this process: every key may spend `perMinute` at once and gets them back evenly, so that
 * no boundary lets two bursts through. Processes count for themselves; what must hold exactly (credits, budgets, single use) is
 * held by a database instead. Time is an argument in milliseconds.
 *
 * A wall clock may be set back. No time has passed then, and it costs no key a token.
 */

export interface Verdict {
  readonly allowed: boolean
  readonly remaining: number
  /** Seconds until the next one is allowed; 0 when there is one now. */
  readonly retryAfter: number
}

interface Bucket {
  tokens: number
  at: number
}

/** More keys than this are not remembered; those not used for longest are dropped, which can only admit more. */
export const maxKeys = 65_536

export class TokenBuckets {
  readonly #perMinute: number
  readonly #perMilli: number
  /** Those used last stand last. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(perMinute: number) {
    this.#perMinute = perMinute
    this.#perMilli = perMinute / 60_000
  }

  /** Keys that are remembered: of those whose bucket is full again, none. */
  get size(): number {
    return this.#buckets.size
  }

  /**
   * Takes one token of a key, or as many as `cost` says. A key with one token left may spend more and then waits until the debt
   * is paid, of at most one minute.
   */
  take(key: string, now: number, cost = 1): Verdict {
    const known = this.#buckets.get(key)
    const tokens = known === undefined ? this.#perMinute : this.#refilled(known, now)
    const allowed = tokens >= 1
    const left = allowed ? Math.max(tokens - cost, -this.#perMinute) : tokens
    this.#buckets.delete(key)
    this.#buckets.set(key, { tokens: left, at: now })
    this.#forget(now)
    const remaining = Math.max(0, Math.floor(left))
    const retryAfter = remaining > 0 ? 0 : Math.max(1, Math.ceil((1 - left) / this.#perMilli / 1000))
    return { allowed, remaining, retryAfter }
  }

  #refilled({ at, tokens }: Bucket, now: number): number {
    return Math.min(this.#perMinute, tokens + Math.max(0, now - at) * this.#perMilli)
  }

  /** From those at rest for longest: a full bucket is the same as none. */
  #forget(now: number) {
    for (const [key, bucket] of this.#buckets) {
      if (this.#buckets.size <= maxKeys && this.#refilled(bucket, now) < this.#perMinute) return
      this.#buckets.delete(key)
    }
  }
}
