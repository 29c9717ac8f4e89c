import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  isOpen,
  nextChange,
  outlook,
  type Policy,
  retryAfter,
  type Schedule,
  splitAtMidnight
} from "@catenet/domain/tunnels/AccessWindow"
import { propertyRuns } from "../runs.ts"
import { between, often } from "../values/history.ts"

const monday = Date.UTC(2026, 0, 5) / 1000
const minutesOfTwoWeeks = 2 * 7 * 1440

/** The same question asked of the calendar: the wall clock's day and minute, and the evening before. */
const naivelyOpen = ({ expires_at, schedule }: Policy, now: number): boolean => {
  if (expires_at !== null && now >= expires_at) return false
  if (schedule === null) return true
  const wall = new Date((now + schedule.tz_offset_minutes * 60) * 1000)
  const day = (wall.getUTCDay() + 6) % 7
  const minute = wall.getUTCHours() * 60 + wall.getUTCMinutes()
  return schedule.slots.some((slot) => {
    const wraps = slot.end_minute <= slot.start_minute
    const today = slot.day === day && minute >= slot.start_minute && (wraps || minute < slot.end_minute)
    const sinceYesterday = wraps && (slot.day + 1) % 7 === day && minute < slot.end_minute
    return today || sinceYesterday
  })
}

const Slot = Schema.Struct({ day: between(0, 6), start_minute: between(0, 1439), end_minute: between(1, 1440) })
const Hours = Schema.Struct({
  tz_offset_minutes: between(-720, 840),
  slots: Schema.Array(Slot).pipe(Schema.check(Schema.isMaxLength(5)))
})
const AnyPolicy = Schema.Struct({
  expires_at: Schema.NullOr(between(monday, monday + 15 * 86_400)),
  schedule: Schema.NullOr(Hours)
})
const Moment = between(monday, monday + 14 * 86_400)

describe("access windows", () => {
  it("knows the edges of a slot, in every direction from UTC", () => {
    const hours = (tz_offset_minutes: number): Policy => ({
      expires_at: null,
      schedule: { tz_offset_minutes, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }
    })
    for (const tz of [-720, -210, 0, 330, 840]) {
      const start = monday + (540 - tz) * 60
      const end = monday + (1020 - tz) * 60
      assert.deepStrictEqual(
        [start - 1, start, end - 1, end].map((now) => isOpen(hours(tz), now)),
        [false, true, true, false]
      )
      assert.strictEqual(nextChange(hours(tz), start - 1), start)
      assert.strictEqual(nextChange(hours(tz), start), end)
      assert.strictEqual(nextChange(hours(tz), end), start + 7 * 86_400)
    }
  })

  it("a slot may run past midnight, past Sunday, and around the clock", () => {
    const at = (start_minute: number, end_minute: number): Policy => ({
      expires_at: null,
      schedule: { tz_offset_minutes: 0, slots: [{ day: 6, start_minute, end_minute }] }
    })
    const sunday = monday + 6 * 86_400
    assert.isTrue(isOpen(at(1320, 360), sunday + 1320 * 60))
    assert.isTrue(isOpen(at(1320, 360), sunday + 86_400 + 359 * 60))
    assert.isFalse(isOpen(at(1320, 360), sunday + 86_400 + 360 * 60))
    assert.isTrue(isOpen(at(1320, 360), monday + 359 * 60))
    assert.strictEqual(nextChange(at(600, 600), sunday + 600 * 60), sunday + 86_400 + 600 * 60)
    assert.isFalse(isOpen(at(0, 1440), sunday + 86_400))
    assert.isTrue(isOpen(at(0, 1440), sunday + 86_399))
  })

  it("says when to come back", () => {
    const closed: Policy = { expires_at: null, schedule: { tz_offset_minutes: 0, slots: [] } }
    const early: Policy = {
      expires_at: null,
      schedule: { tz_offset_minutes: 0, slots: [{ day: 0, start_minute: 1, end_minute: 2 }] }
    }
    assert.strictEqual(retryAfter(null, monday), null)
    assert.strictEqual(retryAfter(early, monday + 60), null)
    assert.strictEqual(retryAfter(early, monday), 60)
    assert.strictEqual(retryAfter(early, monday + 59), 1)
    assert.strictEqual(retryAfter(closed, monday), 3600)
    assert.strictEqual(retryAfter({ expires_at: monday, schedule: null }, monday), 3600)
  })

  it("tells the state in one line", () => {
    const slots = [{ day: 0, start_minute: 10, end_minute: 20 }]
    const schedule: Schedule = { tz_offset_minutes: 0, slots }
    const always = Array.from({ length: 7 }, (_, day) => ({ day, start_minute: 0, end_minute: 1440 }))
    assert.deepStrictEqual(outlook(null, monday), { _tag: "Unrestricted" })
    assert.deepStrictEqual(outlook({ expires_at: monday + 9, schedule: null }, monday), {
      _tag: "OpenUntilExpiry",
      at: monday + 9
    })
    assert.deepStrictEqual(outlook({ expires_at: null, schedule }, monday + 600), {
      _tag: "OpenUntilSlotEnd",
      at: monday + 1200
    })
    assert.deepStrictEqual(outlook({ expires_at: monday + 900, schedule }, monday + 600), {
      _tag: "OpenUntilExpiry",
      at: monday + 900
    })
    assert.deepStrictEqual(outlook({ expires_at: null, schedule }, monday), { _tag: "ClosedUntil", at: monday + 600 })
    assert.deepStrictEqual(outlook({ expires_at: monday + 600, schedule }, monday), { _tag: "ClosedForGood" })
    assert.deepStrictEqual(outlook({ expires_at: monday, schedule }, monday), { _tag: "Expired", at: monday })
    assert.deepStrictEqual(outlook({ expires_at: null, schedule: { ...schedule, slots: always } }, monday), {
      _tag: "OpenForGood"
    })
  })

  it.prop(
    "the answer is the calendar's",
    [AnyPolicy, Moment],
    ([policy, now]) => {
      assert.strictEqual(isOpen(policy, now), naivelyOpen(policy, now))
    },
    often
  )

  it.prop(
    "splitting at midnight changes no answer and leaves no slot past midnight",
    [AnyPolicy, Moment],
    ([policy, now]) => {
      const split = splitAtMidnight(policy)
      assert.strictEqual(isOpen(split, now), isOpen(policy, now))
      assert.strictEqual(nextChange(split, now), nextChange(policy, now))
      for (const { day, end_minute, start_minute } of split.schedule?.slots ?? []) {
        assert.isTrue(day >= 0 && day <= 6 && start_minute >= 0 && end_minute <= 1440 && start_minute < end_minute)
      }
    },
    often
  )

  it.prop(
    "the next change is the first second with another answer",
    [AnyPolicy, Moment],
    ([policy, now]) => {
      const change = nextChange(policy, now)
      const expiry = policy.expires_at ?? Infinity
      const end = change ?? now + 8 * 86_400
      const before = naivelyOpen(policy, now)
      if (change !== null) {
        assert.isTrue(change > now)
        assert.strictEqual(naivelyOpen(policy, change), !before)
      }
      // Between full minutes nothing but the expiry can change the answer.
      for (let moment = Math.floor(now / 60) * 60 + 60; moment < end; moment += 60 * (1 + (moment % 23)))
        assert.strictEqual(naivelyOpen(policy, moment), before)
      if (expiry > now && expiry < end) assert.strictEqual(naivelyOpen(policy, expiry), before)
      if (naivelyOpen(policy, now)) assert.isNull(retryAfter(policy, now))
      else assert.strictEqual(retryAfter(policy, now), change === null ? 3600 : change - now)
    },
    often
  )

  it("every minute of two weeks, in all offsets that are offered", { timeout: 60_000 }, () => {
    const offsets = [...Array.from({ length: 27 }, (_, i) => (i - 12) * 60), 330, 570]
    const stride = propertyRuns < 1000 ? 41 : 1
    const expiry = monday + 10 * 86_400 + 11 * 3600
    const slots = [
      { day: 0, start_minute: 0, end_minute: 1 },
      { day: 1, start_minute: 540, end_minute: 1020 },
      { day: 1, start_minute: 1020, end_minute: 1080 },
      { day: 4, start_minute: 1320, end_minute: 360 },
      { day: 6, start_minute: 1380, end_minute: 1440 }
    ]
    for (const tz_offset_minutes of offsets) {
      const policy: Policy = { expires_at: expiry, schedule: { tz_offset_minutes, slots } }
      const open = Array.from({ length: minutesOfTwoWeeks + 1 }, (_, i) => naivelyOpen(policy, monday + i * 60))
      let change: number | null = null
      for (let i = minutesOfTwoWeeks - 1; i >= 0; i--) {
        if (open[i + 1] !== open[i]) change = monday + (i + 1) * 60
        if (i % stride !== 0) continue
        const now = monday + i * 60
        if (isOpen(policy, now) !== open[i] || nextChange(policy, now) !== change)
          assert.fail(
            `offset ${tz_offset_minutes}, minute ${i}: ${isOpen(policy, now)} until ${nextChange(policy, now)}`
          )
      }
    }
  })
})
