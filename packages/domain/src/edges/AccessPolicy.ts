/**
 * When visitors may use a tunnel: until an expiry, inside the slots of a weekly schedule, or both. The owner's own tunnel
 * connection is not subject to it.
 *
 * A slot that runs past midnight is written as two. Hours follow a place of the IANA time zone database with its daylight saving, or a
 * fixed offset.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { boundedArray } from "../values/BoundedArray.ts"
import { UnixSeconds } from "../values/Numbers.ts"

/** Minutes of a day. */
export const dayMinutes = 1440

/** Offsets of local time, in minutes east of UTC. */
export const minOffsetMinutes = -720
export const maxOffsetMinutes = 840

/** Hours until an expiry that is given by their number: a year. */
export const maxExpiryHours = 8760

/** One open stretch of one day. `day` 0 is Monday; minutes count from local midnight; the end is exclusive. */
export class AccessSlot extends Schema.Class<AccessSlot>("AccessSlot")(
  Schema.Struct({
    day: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
    start_minute: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: dayMinutes - 1 })),
    end_minute: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: dayMinutes }))
  }).check(
    Schema.makeFilter(({ start_minute, end_minute }) => start_minute < end_minute, {
      expected: "a slot that ends after it starts"
    })
  )
) {}

/** A name of the form that the IANA time zone database has, such as `Europe/Berlin`. Whether it is there is asked with {@link isZone}. */
export const TimeZoneName = Schema.String.check(
  Schema.isMaxLength(64),
  Schema.isPattern(/^(?:UTC|[A-Z][\w+-]*(?:\/[A-Z][\w+-]*){1,2})$/, { expected: "a time zone such as Europe/Berlin" })
)

/**
 * Whether the time zone database of this machine has the name.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isZone } from "@catenet/domain/edges/AccessPolicy"
 *
 * assert.deepEqual(["Europe/Berlin", "Mars/Olympus"].map(isZone), [true, false])
 * ```
 */
export const isZone = (name: string): boolean => Option.isSome(DateTime.zoneMakeNamed(name))

/**
 * Slots in the local time of `time_zone`; without it, or where its database does not have it, of an offset of -12 to +14 hours, in
 * minutes east of UTC. No slots at all means never open.
 */
export class WeeklySchedule extends Schema.Class<WeeklySchedule>("WeeklySchedule")({
  time_zone: Schema.optionalKey(TimeZoneName),
  tz_offset_minutes: Schema.Int.check(Schema.isBetween({ minimum: minOffsetMinutes, maximum: maxOffsetMinutes })),
  slots: boundedArray(64, AccessSlot)
}) {}

/**
 * Neither member set means unrestricted. An absent member is read as null and always written. The tunnel is closed from
 * the second `expires_at` on.
 */
export class AccessPolicy extends Schema.Class<AccessPolicy>("AccessPolicy")({
  expires_at: Schema.NullOr(UnixSeconds).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  schedule: Schema.NullOr(WeeklySchedule).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}

const week = 7 * dayMinutes
/** The first of January 1970 was a Thursday. */
const epochMinute = 3 * dayMinutes

const mod = (n: number, m: number) => ((n % m) + m) % m

/** First minute of the week that the slot covers, and how many minutes it lasts. */
const span = (slot: AccessSlot) => ({
  start: slot.day * dayMinutes + slot.start_minute,
  length: slot.end_minute - slot.start_minute
})

/**
 * Minutes east of UTC at `now`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { offsetAt } from "@catenet/domain/edges/AccessPolicy"
 *
 * const berlin = { time_zone: "Europe/Berlin", tz_offset_minutes: 0, slots: [] }
 * assert.deepEqual([offsetAt(berlin, 1_767_600_000), offsetAt(berlin, 1_783_000_000)], [60, 120])
 * ```
 */
export const offsetAt = ({ time_zone, tz_offset_minutes }: WeeklySchedule, now: number): number =>
  (time_zone === undefined ? Option.none() : DateTime.zoneMakeNamed(time_zone)).pipe(
    Option.map((timeZone) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(now * 1000, { timeZone })) / 60_000),
    Option.getOrElse(() => tz_offset_minutes)
  )

/** Minutes since a Monday, 00:00, at this offset. Not reduced to one week. */
const localMinute = (offset: number, now: number) => Math.floor(now / 60) + offset + epochMinute

const weekSeconds = week * 60

/** The first second of a new offset, if there is one between two moments. */
const offsetChange = (schedule: WeeklySchedule, from: number, to: number): number | undefined => {
  const before = offsetAt(schedule, from)
  if (offsetAt(schedule, to) === before) return undefined
  let [last, first] = [from, to]
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (offsetAt(schedule, middle) === before) last = middle
    else first = middle
  }
  return first
}

/**
 * Whether visitors may use the tunnel at `now`. Without a policy: always.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Schema } from "effect"
 * import { AccessPolicy, isOpen } from "@catenet/domain/edges/AccessPolicy"
 *
 * const policy = Schema.decodeSync(AccessPolicy)
 * const office = { tz_offset_minutes: 60, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }
 * const monday0800Utc = 1_767_600_000
 * assert.equal(isOpen(policy({ schedule: office }), monday0800Utc), true)
 * assert.equal(isOpen(policy({ schedule: office }), monday0800Utc - 1), false)
 * assert.equal(isOpen(policy({ expires_at: 100 }), 100), false)
 * assert.equal(isOpen(null, 100), true)
 * ```
 */
export const isOpen = (policy: AccessPolicy | null, now: number): boolean => {
  if (policy === null) return true
  const { expires_at, schedule } = policy
  if (expires_at !== null && now >= expires_at) return false
  if (schedule === null) return true
  const minute = localMinute(offsetAt(schedule, now), now)
  return schedule.slots.map(span).some(({ length, start }) => mod(minute - start, week) < length)
}

/**
 * The moments at which the answer may change: the expiry, and after `now` the start and the end of every slot: within a week, or, since
 * a clock that is put forward may leave a slot out, two weeks. An expiry in the past is among them, and changes nothing.
 */
const boundaries = ({ expires_at, schedule }: AccessPolicy, now: number): ReadonlyArray<number> => {
  const moments = expires_at === null ? [] : [expires_at]
  if (schedule === null) return moments
  const weeks = schedule.time_zone === undefined ? [0] : [0, weekSeconds]
  const changes = weeks.flatMap((later) => offsetChange(schedule, now + later, now + later + weekSeconds) ?? [])
  const offsets = new Set([now, ...changes].map((at) => offsetAt(schedule, at)))
  const startOfMinute = Math.floor(now / 60) * 60
  const times = [...offsets].flatMap((offset) => {
    const minute = localMinute(offset, now)
    const next = (boundary: number) =>
      weeks.map((later) => startOfMinute + (week - mod(minute - boundary, week)) * 60 + later)
    return schedule.slots
      .map(span)
      .flatMap(({ length, start }) => [start, start + length])
      .flatMap(next)
  })
  return [...moments, ...changes, ...times].toSorted((x, y) => x - y)
}

/**
 * The first moment after `now` at which the answer of `isOpen` is another one, or null when it never changes again.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Schema } from "effect"
 * import { AccessPolicy, nextChange } from "@catenet/domain/edges/AccessPolicy"
 *
 * const policy = Schema.decodeSync(AccessPolicy)
 * assert.equal(nextChange(policy({ expires_at: 500 }), 100), 500)
 * assert.equal(nextChange(policy({ expires_at: 500 }), 500), null)
 * const evenings = { tz_offset_minutes: 0, slots: [{ day: 3, start_minute: 1320, end_minute: 1440 }] }
 * assert.equal(nextChange(policy({ schedule: evenings }), 0), 79_200)
 * assert.equal(nextChange(policy({ schedule: evenings }), 79_200), 86_400)
 * ```
 */
export const nextChange = (policy: AccessPolicy | null, now: number): number | null => {
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
 * import { Schema } from "effect"
 * import { AccessPolicy, retryAfter } from "@catenet/domain/edges/AccessPolicy"
 *
 * assert.equal(retryAfter(Schema.decodeSync(AccessPolicy)({ expires_at: 100 }), 100), 3600)
 * assert.equal(retryAfter(null, 100), null)
 * ```
 */
export const retryAfter = (policy: AccessPolicy | null, now: number): number | null => {
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
 * import { Schema } from "effect"
 * import { AccessPolicy, outlook } from "@catenet/domain/edges/AccessPolicy"
 *
 * const policy = Schema.decodeSync(AccessPolicy)({ expires_at: 500 })
 * assert.deepEqual(outlook(null, 100), { _tag: "Unrestricted" })
 * assert.deepEqual(outlook(policy, 100), { _tag: "OpenUntilExpiry", at: 500 })
 * assert.deepEqual(outlook(policy, 600), { _tag: "Expired", at: 500 })
 * ```
 */
export const outlook = (policy: AccessPolicy | null, now: number): Outlook => {
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
