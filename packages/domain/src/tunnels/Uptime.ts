/**
 * How much of the time a tunnel was up. Counted from its first session: a tunnel is not called down for the time before it
 * existed. Overlapping sessions count once.
 */
import { Schema } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import { percentText } from "../values/Format.ts"
import { BadgeId, type Subject, type TunnelId } from "../values/Ids.ts"
import type { Step } from "../values/Step.ts"

// The public uptime badge of a tunnel: a switch, and what the picture says. It names neither the hostname nor the tunnel.

/** A tunnel's public uptime badge; null while it is off. */
export class Badge extends Schema.Class<Badge>("Badge")({ public_id: Schema.NullOr(BadgeId) }) {}

/** The tunnel, and the account that switches its badge. */
export interface BadgeOwner {
  readonly id: TunnelId
  readonly subject: Subject
}

/**
 * Switches the badge on. One that is on keeps its address.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Badge, enable } from "@catenet/domain/tunnels/Uptime"
 *
 * const tunnel = { id: "t1", subject: "ada" }
 * const [first, second] = ["a".repeat(64), "b".repeat(64)]
 * const { next } = enable(tunnel, new Badge({ public_id: null }), first)
 * assert.equal(next.public_id, first)
 * assert.equal(enable(tunnel, next, second).next, next)
 * ```
 */
export const enable = ({ id, subject }: BadgeOwner, badge: Badge, fresh: BadgeId): Step<Badge, Audit> =>
  badge.public_id === null
    ? { next: new Badge({ public_id: fresh }), effects: [audit("tunnel_badge_enabled", subject, id)] }
    : { next: badge, effects: [] }

/**
 * Switches the badge off. Its address never comes back.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Badge, disable } from "@catenet/domain/tunnels/Uptime"
 *
 * const on = new Badge({ public_id: "a".repeat(64) })
 * assert.equal(disable({ id: "t1", subject: "ada" }, on).next.public_id, null)
 * ```
 */
export const disable = ({ id, subject }: BadgeOwner, badge: Badge): Step<Badge, Audit> =>
  badge.public_id === null
    ? { next: badge, effects: [] }
    : { next: new Badge({ public_id: null }), effects: [audit("tunnel_badge_disabled", subject, id)] }

/** What the picture says, and the colour of the box behind the value. */
export interface BadgeFace {
  readonly label: string
  readonly text: string
  readonly colour: string
}

const colourOf = (percent: number) => {
  if (percent >= 99) return "#4c1"
  return percent >= 95 ? "#dfb317" : "#e05d44"
}

/**
 * The face for a seven-day uptime, null or not a number meaning no history.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { face } from "@catenet/domain/tunnels/Uptime"
 *
 * assert.deepEqual(face(98.44), { label: "uptime 7d", text: "98.4 %", colour: "#dfb317" })
 * assert.deepEqual(face(null), { label: "uptime 7d", text: "n/a", colour: "#9f9f9f" })
 * ```
 */
export const face = (percent: number | null): BadgeFace => ({
  label: "uptime 7d",
  text: percentText(percent),
  colour: percent === null || Number.isNaN(percent) ? "#9f9f9f" : colourOf(percent)
})

/** One unbroken connection of an agent, in unix seconds; `disconnected_at` is null while it lasts. */
export interface Session {
  readonly connected_at: number
  readonly disconnected_at: number | null
}

/** A time in which the echo found that visitors did not reach the service, although a session was open. */
export interface Silence {
  readonly began_at: number
  readonly ended_at: number
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
 * The parts of the sessions in which visitors reached the service: each without the silences in it. Overlapping sessions become
 * one.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { reached } from "@catenet/domain/tunnels/Uptime"
 *
 * const sessions = [{ connected_at: 0, disconnected_at: 100 }, { connected_at: 150, disconnected_at: null }]
 * assert.deepEqual(reached(sessions, [{ began_at: 40, ended_at: 60 }, { began_at: 190, ended_at: 200 }], 200), [
 *   { connected_at: 0, disconnected_at: 40 },
 *   { connected_at: 60, disconnected_at: 100 },
 *   { connected_at: 150, disconnected_at: 190 }
 * ])
 * ```
 */
export const reached = (
  sessions: ReadonlyArray<Session>,
  silences: ReadonlyArray<Silence>,
  now: number
): ReadonlyArray<{ readonly connected_at: number; readonly disconnected_at: number }> => {
  const found: Array<{ readonly connected_at: number; readonly disconnected_at: number }> = []
  const sorted = silences.toSorted((x, y) => x.began_at - y.began_at)
  let next = 0
  let counted = -Infinity
  for (const { end, start } of stretches(sessions, now)) {
    let from = Math.max(start, counted)
    while (from < end) {
      while (next < sorted.length && sorted[next]!.ended_at <= from) next += 1
      const silence = sorted[next]
      const until = silence === undefined ? end : Math.min(end, silence.began_at)
      if (until > from) found.push({ connected_at: from, disconnected_at: until })
      if (silence === undefined || silence.began_at >= end) break
      from = Math.min(end, Math.max(from, silence.ended_at))
    }
    counted = Math.max(counted, end)
  }
  return found
}

/** The days that are shown. */
const shownDays = 30

/**
 * The thirty days up to the one that `now` is in, UTC, oldest first: their first seconds, and percent of what has passed of each
 * since the first session of all. Null for days before that.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { uptimeByDay } from "@catenet/domain/tunnels/Uptime"
 *
 * const half = [{ connected_at: 86_400, disconnected_at: 86_400 + 43_200 }]
 * const days = uptimeByDay(half, 86_400, 2 * 86_400 + 100)
 * assert.deepEqual(days.slice(-3).map(({ share }) => share), [null, 50, 0])
 * ```
 */
export const uptimeByDay = (
  sessions: ReadonlyArray<Session>,
  firstSession: number | null,
  now: number
): ReadonlyArray<{ readonly start: number; readonly share: number | null }> => {
  const today = Math.floor(now / day) * day
  const first = Math.max(0, today - (shownDays - 1) * day)
  const covered = new Map<number, number>()
  let counted = first
  for (const { end, start } of stretches(sessions, now)) {
    let from = Math.max(start, counted)
    while (from < end) {
      const at = Math.floor(from / day) * day
      const until = Math.min(end, at + day)
      covered.set(at, (covered.get(at) ?? 0) + until - from)
      from = until
    }
    counted = Math.max(counted, end)
  }
  return Array.from({ length: shownDays }, (_, index) => {
    const start = today - (shownDays - 1 - index) * day
    const from = Math.max(start, firstSession ?? Infinity)
    const until = Math.min(start + day, now)
    return { start, share: from < until ? ((covered.get(start) ?? 0) / (until - from)) * 100 : null }
  })
}

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
