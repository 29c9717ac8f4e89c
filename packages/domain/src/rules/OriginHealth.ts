/**
 * Whether an origin of a route takes requests, judged by those that it has got: three failures within 30 seconds take it out for ten
 * seconds. If it then fails again before it has answered once, it is out for twice as long, at most five minutes. Pure.
 */

const windowMillis = 30_000
const firstMillis = 10_000
const longestMillis = 300_000
const threshold = 3

export interface OriginHealth {
  /** When requests failed, in milliseconds. */
  readonly failures: ReadonlyArray<number>
  /** It takes no requests before this time. */
  readonly until: number
  /** For how long it was out last; 0 once it has answered. */
  readonly outMillis: number
}

/** Of an origin that answers, and of one that nobody has asked. */
export const healthy: OriginHealth = { failures: [], until: 0, outMillis: 0 }

/**
 * After a failed request. Those that were on their way when the origin was taken out count no more.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { failed, healthy } from "@catenet/domain/rules/OriginHealth"
 *
 * const out = [1_000, 2_000, 3_000].reduce(failed, healthy)
 * deepStrictEqual(out, { failures: [], until: 13_000, outMillis: 10_000 })
 * deepStrictEqual(failed(out, 13_000).until, 33_000)
 * ```
 */
export const failed = (health: OriginHealth, now: number): OriginHealth => {
  if (now < health.until) return health
  const failures = [...health.failures.filter((at) => at > now - windowMillis), now]
  if (health.outMillis === 0 && failures.length < threshold) return { ...health, failures }
  const outMillis = health.outMillis === 0 ? firstMillis : Math.min(2 * health.outMillis, longestMillis)
  return { failures: [], until: now + outMillis, outMillis }
}
