/**
 * How much of the time a tunnel was up. Counted from its first session: a tunnel is not called down for the time before it
 * existed. Overlapping sessions count once.
 */

/** One unbroken connection of an agent, in unix seconds; `disconnected_at` is null while it lasts. */
export interface Session {
  readonly connected_at: number
  readonly disconnected_at: number | null
}

/** A session with the bytes it relayed. */
export interface Traffic extends Session {
  readonly bytes_in: number | bigint
  readonly bytes_out: number | bigint
}

const day = 86_400

/** The three windows that are shown, in seconds. */
export const uptimeWindows = { h24: day, d7: 7 * day, d30: 30 * day }

interface Stretch {
  readonly start: number
  readonly end: number
}

/** The sessions as stretches up to `now`, by start. */
const stretches = (sessions: ReadonlyArray<Session>, now: number): ReadonlyArray<Stretch> =>
  sessions
    .map(({ connected_at, disconnected_at }) => ({ start: connected_at, end: Math.min(disconnected_at ?? now, now) }))
    .toSorted((x, y) => x.start - y.start)

/**
 * Percent of the last `window` seconds, or of the time since `firstSession` if that is shorter, in which a session was open.
 * Null for a tunnel without history. `firstSession` is the start of the tunnel's very first session, also when that one is
 * no longer among `sessions`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { uptime } from "@catenet/domain/tunnels/Uptime"
 *
 * const young = [{ connected_at: 900, disconnected_at: null }]
 * assert.equal(uptime(young, 900, 86_400, 1000), 100)
 * assert.equal(uptime(young, 800, 86_400, 1000), 50)
 * assert.equal(uptime([], null, 86_400, 1000), null)
 * ```
 */
export const uptime = (
  sessions: ReadonlyArray<Session>,
  firstSession: number | null,
  window: number,
  now: number
): number | null => {
  if (firstSession === null || firstSession >= now) return null
  const from = Math.max(now - window, firstSession)
  let counted = from
  let covered = 0
  for (const { end, start } of stretches(sessions, now)) {
    covered += Math.max(0, end - Math.max(start, counted))
    counted = Math.max(counted, end)
  }
  return (covered / (now - from)) * 100
}

/**
 * Seconds of the longest time without a session within the last `window` seconds, 0 when none was observed. The time before
 * the oldest known session is not an outage.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { longestOutage } from "@catenet/domain/tunnels/Uptime"
 *
 * const sessions = [{ connected_at: 0, disconnected_at: 100 }, { connected_at: 160, disconnected_at: 180 }]
 * assert.equal(longestOutage(sessions, 1000, 200), 60)
 * assert.equal(longestOutage(sessions, 1000, 300), 120)
 * ```
 */
export const longestOutage = (sessions: ReadonlyArray<Session>, window: number, now: number): number => {
  let latestEnd = now
  let longest = 0
  const known = stretches(sessions, now)
  const from = now - window
  const [oldest] = known
  if (oldest !== undefined) latestEnd = Math.max(oldest.start, from)
  for (const { end, start } of [...known, { start: now, end: now }]) {
    longest = Math.max(longest, start - latestEnd)
    latestEnd = Math.max(latestEnd, end)
  }
  return longest
}

/** Sums over the sessions of a window. Bytes are those of whole sessions, not clipped to the window. */
export interface Totals {
  readonly sessions: number
  readonly bytes_in: bigint
  readonly bytes_out: bigint
}

/**
 * Counts the sessions that overlap the last `window` seconds.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { totals } from "@catenet/domain/tunnels/Uptime"
 *
 * const old = { connected_at: 0, disconnected_at: 100, bytes_in: 9, bytes_out: 9 }
 * const live = { connected_at: 150, disconnected_at: null, bytes_in: 1, bytes_out: 2n }
 * assert.deepEqual(totals([old, live], 50, 200), { sessions: 1, bytes_in: 1n, bytes_out: 2n })
 * ```
 */
export const totals = (sessions: ReadonlyArray<Traffic>, window: number, now: number): Totals =>
  sessions
    .filter(({ disconnected_at }) => (disconnected_at ?? now) > now - window)
    .reduce<Totals>(
      (sum, { bytes_in, bytes_out }) => ({
        sessions: sum.sessions + 1,
        bytes_in: sum.bytes_in + BigInt(bytes_in),
        bytes_out: sum.bytes_out + BigInt(bytes_out)
      }),
      { sessions: 0, bytes_in: 0n, bytes_out: 0n }
    )
