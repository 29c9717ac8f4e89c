import { AccessPolicy, isOpen, isZone, nextChange, outlook, retryAfter } from "@catenet/domain/edges/AccessPolicy"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, often } from "../values/history.ts"

const monday = Date.UTC(2026, 0, 5) / 1000
const minutesOfTwoWeeks = 2 * 7 * 1440

const policyOf = Schema.decodeSync(AccessPolicy)
const scheduled = (tz_offset_minutes: number, ...slots: (typeof Slot.Type)[]) =>
  policyOf({ schedule: { tz_offset_minutes, slots } })
const until = (expires_at: number) => policyOf({ expires_at })

/** The same question asked of the calendar: the wall clock's day and minute. */
const naivelyOpen = ({ expires_at, schedule }: AccessPolicy, now: number): boolean => {
  if (expires_at !== null && now >= expires_at) return false
  if (schedule === null) return true
  const wall = new Date((now + schedule.tz_offset_minutes * 60) * 1000)
  const day = (wall.getUTCDay() + 6) % 7
  const minute = wall.getUTCHours() * 60 + wall.getUTCMinutes()
  return schedule.slots.some((slot) => slot.day === day && minute >= slot.start_minute && minute < slot.end_minute)
}

const Slot = Schema.Struct({ day: between(0, 6), start_minute: between(0, 1439), end_minute: between(1, 1440) }).pipe(
  Schema.check(Schema.makeFilter(({ end_minute, start_minute }) => start_minute < end_minute))
)
const Hours = Schema.Struct({
  tz_offset_minutes: between(-720, 840),
  slots: Schema.Array(Slot).pipe(Schema.check(Schema.isMaxLength(5)))
})
const AnyPolicy = Schema.Struct({
  expires_at: Schema.NullOr(between(monday, monday + 15 * 86_400)),
  schedule: Schema.NullOr(Hours)
})
const Moment = between(monday, monday + 14 * 86_400)

describe("access policies", () => {
  it("knows the edges of a slot, in every direction from UTC", () => {
    const hours = (offset: number) => scheduled(offset, { day: 0, start_minute: 540, end_minute: 1020 })
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

  it("two slots that meet at midnight, also on Sunday, are one opening", () => {
    const overnight = (day: number) =>
      scheduled(
        0,
        { day, start_minute: 1320, end_minute: 1440 },
        { day: (day + 1) % 7, start_minute: 0, end_minute: 360 }
      )
    for (const day of [0, 6]) {
      const start = monday + day * 86_400 + 1320 * 60
      const policy = overnight(day)
      assert.deepStrictEqual(
        [start - 1, start, start + 480 * 60 - 1, start + 480 * 60].map((now) => isOpen(policy, now)),
        [false, true, true, false]
      )
      assert.strictEqual(nextChange(policy, start), start + 480 * 60)
    }
    const wholeSunday = scheduled(0, { day: 6, start_minute: 0, end_minute: 1440 })
    const sunday = monday + 6 * 86_400
    assert.isFalse(isOpen(wholeSunday, sunday + 86_400))
    assert.isTrue(isOpen(wholeSunday, sunday + 86_399))
  })

  it("follows daylight saving where it names a place: 09:00 stays 09:00, and an hour that is left out opens nothing", () => {
    const at = (day: number, start_minute: number, end_minute: number) =>
      policyOf({
        schedule: { time_zone: "Europe/Berlin", tz_offset_minutes: 60, slots: [{ day, start_minute, end_minute }] }
      })
    const utc = (...of: Parameters<typeof Date.UTC>) => Date.UTC(...of) / 1000
    // Clocks are put forward on 29 March 2026, 02:00.
    const mondays = at(0, 540, 1020)
    for (const [opens, closes] of [
      [utc(2026, 2, 23, 8), utc(2026, 2, 23, 16)],
      [utc(2026, 2, 30, 7), utc(2026, 2, 30, 15)],
      [utc(2026, 9, 26, 8), utc(2026, 9, 26, 16)]
    ] as const) {
      assert.deepStrictEqual(
        [opens - 1, opens, closes - 1, closes].map((now) => isOpen(mondays, now)),
        [false, true, true, false]
      )
      assert.strictEqual(nextChange(mondays, opens - 3_600), opens)
      assert.strictEqual(nextChange(mondays, opens), closes)
    }
    assert.strictEqual(nextChange(mondays, utc(2026, 2, 23, 16)), utc(2026, 2, 30, 7))
    const leftOut = at(6, 120, 180)
    assert.strictEqual(nextChange(leftOut, utc(2026, 2, 22, 2)), utc(2026, 3, 5, 0))
    // Clocks are put back on 25 October 2026, 03:00: the hour comes twice.
    const twice = at(6, 150, 180)
    const half = utc(2026, 9, 25, 0, 30)
    assert.deepStrictEqual(
      [half, half + 1_800, half + 3_600].map((now) => isOpen(twice, now)),
      [true, false, true]
    )
    assert.strictEqual(nextChange(twice, half + 1_800), half + 3_600)
  })

  it("keeps to the offset where the machine does not know the place", () => {
    const slots = [{ day: 0, start_minute: 540, end_minute: 1020 }]
    const lost = policyOf({ schedule: { time_zone: "Mars/Olympus", tz_offset_minutes: 60, slots } })
    assert.deepStrictEqual([isZone("Mars/Olympus"), isZone("Europe/Berlin"), isZone("UTC")], [false, true, true])
    assert.isTrue(isOpen(lost, monday + 8 * 3600))
    for (const time_zone of ["", "+01:00", "europe/berlin", "Europe/", `A/${"b".repeat(63)}`])
      assert.throws(() => policyOf({ schedule: { time_zone, tz_offset_minutes: 0, slots } }))
  })

  it.prop(
    "the next change in a place is the first minute with another answer",
    [Schema.Struct({ slot: Slot, day: between(0, 40) })],
    ([{ day, slot }]) => {
      const policy = policyOf({ schedule: { time_zone: "Europe/Berlin", tz_offset_minutes: 0, slots: [slot] } })
      const now = Date.UTC(2026, 2, 1 + day) / 1000
      let minute = now + 60
      while (isOpen(policy, minute) === isOpen(policy, now)) minute += 60
      assert.strictEqual(nextChange(policy, now), minute)
    },
    { arbitrary: { runs: 20 } }
  )

  it("says when to come back", () => {
    const closed = scheduled(0)
    const early = scheduled(0, { day: 0, start_minute: 1, end_minute: 2 })
    assert.strictEqual(retryAfter(null, monday), null)
    assert.strictEqual(retryAfter(early, monday + 60), null)
    assert.strictEqual(retryAfter(early, monday), 60)
    assert.strictEqual(retryAfter(early, monday + 59), 1)
    assert.strictEqual(retryAfter(closed, monday), 3600)
    assert.strictEqual(retryAfter(until(monday), monday), 3600)
  })

  it("names the state of a policy, and when it changes", () => {
    const schedule = { tz_offset_minutes: 0, slots: [{ day: 0, start_minute: 10, end_minute: 20 }] }
    const always = Array.from({ length: 7 }, (_, day) => ({ day, start_minute: 0, end_minute: 1440 }))
    assert.deepStrictEqual(outlook(null, monday), { _tag: "Unrestricted" })
    assert.deepStrictEqual(outlook(until(monday + 9), monday), {
      _tag: "OpenUntilExpiry",
      at: monday + 9
    })
    assert.deepStrictEqual(outlook(policyOf({ expires_at: null, schedule }), monday + 600), {
      _tag: "OpenUntilSlotEnd",
      at: monday + 1200
    })
    assert.deepStrictEqual(outlook(policyOf({ expires_at: monday + 900, schedule }), monday + 600), {
      _tag: "OpenUntilExpiry",
      at: monday + 900
    })
    assert.deepStrictEqual(outlook(policyOf({ expires_at: null, schedule }), monday), {
      _tag: "ClosedUntil",
      at: monday + 600
    })
    assert.deepStrictEqual(outlook(policyOf({ expires_at: monday + 600, schedule }), monday), { _tag: "ClosedForGood" })
    assert.deepStrictEqual(outlook(policyOf({ expires_at: monday, schedule }), monday), { _tag: "Expired", at: monday })
    assert.deepStrictEqual(outlook(policyOf({ expires_at: null, schedule: { ...schedule, slots: always } }), monday), {
      _tag: "OpenForGood"
    })
  })

  it.prop(
    "the answer is the calendar's",
    [AnyPolicy, Moment],
    ([drawn, now]) => {
      const policy = policyOf(drawn)
      assert.strictEqual(isOpen(policy, now), naivelyOpen(policy, now))
    },
    often
  )

  it.prop(
    "the next change is the first second with another answer",
    [AnyPolicy, Moment],
    ([drawn, now]) => {
      const policy = policyOf(drawn)
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
      { day: 4, start_minute: 1320, end_minute: 1440 },
      { day: 5, start_minute: 0, end_minute: 360 },
      { day: 6, start_minute: 1380, end_minute: 1440 }
    ]
    for (const tz_offset_minutes of offsets) {
      const policy = policyOf({ expires_at: expiry, schedule: { tz_offset_minutes, slots } })
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
