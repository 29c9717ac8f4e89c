/**
 * Token buckets in the memory of this process: every caller may spend `perMinute` requests at once and gets them back
 * evenly. Replicas count for themselves, so a caller that reaches all of them has as many buckets; what must hold
 * exactly (credits, budgets, single use) is held by the database instead.
 *
 * The wall clock may be set back. No time has passed then, and it costs no caller a token.
 */

export interface Verdict {
  readonly allowed: boolean
  readonly remaining: number
  /** Seconds until the next request would be allowed; 0 when there is one now. */
  readonly retryAfter: number
}

interface Bucket {
  tokens: number
  at: number
}

/** Beyond this many callers, those with a full bucket are forgotten: they lose nothing by it. */
const remembered = 20_000

export const make = (perMinute: number) => {
  const perMilli = perMinute / 60_000
  const buckets = new Map<string, Bucket>()
  const refilled = ({ at, tokens }: Bucket, now: number) =>
    Math.min(perMinute, tokens + Math.max(0, now - at) * perMilli)

  const prune = (now: number) => {
    for (const [key, bucket] of buckets) if (refilled(bucket, now) >= perMinute) buckets.delete(key)
    for (const key of buckets.keys()) {
      if (buckets.size <= remembered) return
      buckets.delete(key)
    }
  }

  /**
   * Takes one request out of the bucket of a caller, or what it costs. A caller with one token left may spend more and then
   * waits until the debt is paid, of at most one minute. `now` is in milliseconds.
   */
  return (key: string, now: number, cost = 1): Verdict => {
    const known = buckets.get(key)
    const tokens = known === undefined ? perMinute : refilled(known, now)
    const allowed = tokens >= 1
    const left = allowed ? Math.max(tokens - cost, -perMinute) : tokens
    buckets.delete(key)
    buckets.set(key, { tokens: left, at: now })
    if (buckets.size > remembered) prune(now)
    const remaining = Math.max(0, Math.floor(left))
    return { allowed, remaining, retryAfter: remaining > 0 ? 0 : Math.max(1, Math.ceil((1 - left) / perMilli / 1000)) }
  }
}
