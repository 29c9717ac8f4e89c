/**
 * When a tunnel is open to visitors: until an expiry, and inside the slots of a weekly schedule in a fixed offset from UTC.
 * No daylight saving. The owner's own tunnel connection is not subject to it.
 */

/**
 * `day` 0 is Monday in the schedule's local time. The start belongs to the slot, the end does not. A slot whose end is not
 * after its start runs past midnight into the next day.
 */
export interface Slot {
  readonly day: number
  readonly start_minute: number
  readonly end_minute: number
}

/** Minutes east of UTC. A schedule without slots is never open. */
export interface Schedule {
  readonly tz_offset_minutes: number
  readonly slots: ReadonlyArray<Slot>
}

/** As stored, pushed to the edge and audited. `expires_at` is unix seconds; the window is shut from that second on. */
export interface Policy {
  readonly expires_at: number | null
  readonly schedule: Schedule | null
}

const day = 1440
const week = 7 * day
/** The first of January 1970 was a Thursday. */
const epochMinute = 3 * day

const mod = (n: number, m: number) => ((n % m) + m) % m

/** First minute of the week that the slot covers, and how many minutes it lasts. */
const span = ({ day: d, end_minute, start_minute }: Slot) => ({
  start: d * day + start_minute,
  length: end_minute > start_minute ? end_minute - start_minute : end_minute - start_minute + day
})

/** Minutes since a Monday, 00:00, in local time. Not reduced to one week. */
const localMinute = (schedule: Schedule, now: number) => Math.floor(now / 60) + schedule.tz_offset_minutes + epochMinute

/**
 * Whether a visitor may come in at `now`. Without a policy: always.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isOpen } from "@catenet/domain/tunnels/AccessWindow"
 *
 * const office = { tz_offset_minutes: 60, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }
 * const monday0800Utc = 1_767_600_000
 * assert.equal(isOpen({ expires_at: null, schedule: office }, monday0800Utc), true)
 * assert.equal(isOpen({ expires_at: null, schedule: office }, monday0800Utc - 1), false)
 * assert.equal(isOpen({ expires_at: 100, schedule: null }, 100), false)
 * assert.equal(isOpen(null, 100), true)
 * ```
 */
export const isOpen = (policy: Policy | null, now: number): boolean => {
  if (policy === null) return true
  const { expires_at, schedule } = policy
  if (expires_at !== null && now >= expires_at) return false
  if (schedule === null) return true
  const minute = localMinute(schedule, now)
  return schedule.slots.map(span).some(({ length, start }) => mod(minute - start, week) < length)
}

/**
 * The moments at which the answer may change: the expiry, and within the week after `now` the start and the end of every slot.
 * An expiry in the past is among them, and changes nothing.
 */
const boundaries = ({ expires_at, schedule }: Policy, now: number): ReadonlyArray<number> => {
  const moments = expires_at === null ? [] : [expires_at]
  if (schedule === null) return moments
  const minute = localMinute(schedule, now)
  const startOfMinute = Math.floor(now / 60) * 60
  const next = (boundary: number) => startOfMinute + (week - mod(minute - boundary, week)) * 60
  return [
    ...moments,
    ...schedule.slots.map(span).flatMap(({ length, start }) => [next(start), next(start + length)])
  ].toSorted((x, y) => x - y)
}

/**
 * The first moment after `now` at which the answer of `isOpen` is another one, or null when it never changes again.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { nextChange } from "@catenet/domain/tunnels/AccessWindow"
 *
 * assert.equal(nextChange({ expires_at: 500, schedule: null }, 100), 500)
 * assert.equal(nextChange({ expires_at: 500, schedule: null }, 500), null)
 * const nights = { tz_offset_minutes: 0, slots: [{ day: 3, start_minute: 1320, end_minute: 360 }] }
 * assert.equal(nextChange({ expires_at: null, schedule: nights }, 0), 79_200)
 * assert.equal(nextChange({ expires_at: null, schedule: nights }, 79_200), 108_000)
 * ```
 */
export const nextChange = (policy: Policy | null, now: number): number | null => {
  if (policy === null) return null
  const answer = isOpen(policy, now)
  return boundaries(policy, now).find((moment) => isOpen(policy, moment) !== answer) ?? null
}

/**
 * Whole seconds for the `Retry-After` header of a visitor who is turned away, 3600 when no opening is in sight.
 * Null when the window is open.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { retryAfter } from "@catenet/domain/tunnels/AccessWindow"
 *
 * assert.equal(retryAfter({ expires_at: 100, schedule: null }, 100), 3600)
 * assert.equal(retryAfter(null, 100), null)
 * ```
 */
export const retryAfter = (policy: Policy | null, now: number): number | null => {
  if (isOpen(policy, now)) return null
  const change = nextChange(policy, now)
  return change === null ? 3600 : change - now
}

/** What is said about a window: the answer, and what ends it. All times are unix seconds. */
export type Outlook =
  | { readonly _tag: "Unrestricted" }
  | { readonly _tag: "OpenUntilExpiry"; readonly at: number }
  | { readonly _tag: "OpenUntilSlotEnd"; readonly at: number }
  | { readonly _tag: "OpenForGood" }
  | { readonly _tag: "ClosedUntil"; readonly at: number }
  | { readonly _tag: "Expired"; readonly at: number }
  | { readonly _tag: "ClosedForGood" }

/**
 * The state line of a window.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { outlook } from "@catenet/domain/tunnels/AccessWindow"
 *
 * assert.deepEqual(outlook(null, 100), { _tag: "Unrestricted" })
 * assert.deepEqual(outlook({ expires_at: 500, schedule: null }, 100), { _tag: "OpenUntilExpiry", at: 500 })
 * assert.deepEqual(outlook({ expires_at: 500, schedule: null }, 600), { _tag: "Expired", at: 500 })
 * ```
 */
export const outlook = (policy: Policy | null, now: number): Outlook => {
  if (policy === null) return { _tag: "Unrestricted" }
  const { expires_at } = policy
  if (expires_at !== null && now >= expires_at) return { _tag: "Expired", at: expires_at }
  const at = nextChange(policy, now)
  if (isOpen(policy, now)) {
    if (at === null) return { _tag: "OpenForGood" }
    return { _tag: at === expires_at ? "OpenUntilExpiry" : "OpenUntilSlotEnd", at }
  }
  return at === null ? { _tag: "ClosedForGood" } : { _tag: "ClosedUntil", at }
}

/**
 * The same policy with every slot inside one day: what is sent to an edge, so that also an edge that knows no slots past
 * midnight keeps the hours.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { splitAtMidnight } from "@catenet/domain/tunnels/AccessWindow"
 *
 * const nights = { tz_offset_minutes: 0, slots: [{ day: 6, start_minute: 1320, end_minute: 360 }] }
 * assert.deepEqual(splitAtMidnight({ expires_at: null, schedule: nights }).schedule?.slots, [
 *   { day: 6, start_minute: 1320, end_minute: 1440 },
 *   { day: 0, start_minute: 0, end_minute: 360 }
 * ])
 * ```
 */
export const splitAtMidnight = (policy: Policy): Policy => {
  if (policy.schedule === null) return policy
  const slots = policy.schedule.slots.flatMap((slot) =>
    slot.end_minute > slot.start_minute
      ? [slot]
      : [
          { ...slot, end_minute: day },
          { day: (slot.day + 1) % 7, start_minute: 0, end_minute: slot.end_minute }
        ]
  )
  return { ...policy, schedule: { ...policy.schedule, slots } }
}
