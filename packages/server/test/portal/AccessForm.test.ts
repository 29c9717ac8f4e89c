import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { Fields } from "../../src/http/FormBody.ts"
import { readAccessForm, utcSeconds } from "../../src/portal/AccessForm.ts"

const now = Date.UTC(2026, 0, 5, 8) / 1000
const office: Fields = { schedule: "on", day0: "on", day6: "", start: "09:00", end: "24:00", tz_offset: "330" }
const read = (form: Fields) => readAccessForm(form, now)
const policyOf = Schema.decodeSync(AccessPolicy)
const between = (minimum: number, maximum: number) =>
  Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum, maximum })))
const fieldOf = (form: Fields) => {
  const answer = read(form)
  return Result.isFailure(answer) ? answer.failure.field : undefined
}

describe("the access form", () => {
  it("takes a place of the time zone database in the place of an offset", () => {
    const zoneOf = (time_zone: string) => {
      const answer = read({ ...office, time_zone })
      return Result.isSuccess(answer) ? answer.success?.schedule?.time_zone : answer.failure.field
    }
    assert.deepStrictEqual(["", " Europe/Berlin ", "Mars/Olympus", "berlin"].map(zoneOf), [
      undefined,
      "Europe/Berlin",
      "time_zone",
      "time_zone"
    ])
  })

  it("reads expiries and schedules", () => {
    assert.deepStrictEqual(
      read(office),
      Result.succeed(
        policyOf({
          schedule: {
            tz_offset_minutes: 330,
            slots: [
              { day: 0, start_minute: 540, end_minute: 1440 },
              { day: 6, start_minute: 540, end_minute: 1440 }
            ]
          }
        })
      )
    )
    for (const [hours, seconds] of [
      ["1", 3600],
      ["8760", 8760 * 3600],
      [" 2 ", 7200]
    ] as const) {
      const answer = read({ expiry_mode: "in", expires_in_hours: hours })
      assert.deepStrictEqual(answer, Result.succeed(policyOf({ expires_at: now + seconds })))
    }
    for (const text of ["2026-01-05T08:01", "2026-01-05 08:01", "2026-01-05T08:01:00"]) {
      const answer = read({ expiry_mode: "at", expires_at: text })
      assert.deepStrictEqual(answer, Result.succeed(policyOf({ expires_at: now + 60 })))
    }
    assert.deepStrictEqual(Result.getOrThrow(read({ ...office, tz_offset: undefined }))?.schedule?.tz_offset_minutes, 0)
  })

  it("nothing chosen means unrestricted", () => {
    for (const form of [{}, { expiry_mode: "" }, { expiry_mode: "none", expires_at: "rubbish", day0: "on" }])
      assert.deepStrictEqual(read(form), Result.succeed(null))
  })

  it("names the field that cannot be used", () => {
    const cases: ReadonlyArray<readonly [string, Fields]> = [
      ["expiry_mode", { expiry_mode: "soon" }],
      ["expires_at", { expiry_mode: "at" }],
      ["expires_at", { expiry_mode: "at", expires_at: "2026-02-29T08:00" }],
      ["expires_at", { expiry_mode: "at", expires_at: "2026-01-05T08:00" }],
      ["expires_in_hours", { expiry_mode: "in" }],
      ["expires_in_hours", { expiry_mode: "in", expires_in_hours: "0" }],
      ["expires_in_hours", { expiry_mode: "in", expires_in_hours: "8761" }],
      ["expires_in_hours", { expiry_mode: "in", expires_in_hours: "1.5" }],
      ["expires_in_hours", { expiry_mode: "in", expires_in_hours: "1e3" }],
      ["day0", { ...office, day0: undefined, day6: undefined }],
      ["start", { ...office, start: "24:00" }],
      ["start", { ...office, start: "9:00" }],
      ["start", { ...office, start: undefined }],
      ["end", { ...office, end: "24:01" }],
      ["end", { ...office, end: "09:60" }],
      ["end", { ...office, end: "09:00" }],
      ["end", { ...office, end: "08:59" }],
      ["tz_offset", { ...office, tz_offset: "900" }],
      ["tz_offset", { ...office, tz_offset: "841" }],
      ["tz_offset", { ...office, tz_offset: "-721" }],
      ["tz_offset", { ...office, tz_offset: "" }]
    ]
    for (const [field, form] of cases) assert.strictEqual(fieldOf(form), field, JSON.stringify(form))
    for (const tz_offset of ["840", "-720", "-0"]) assert.isTrue(Result.isSuccess(read({ ...office, tz_offset })))
    for (const [start, end] of [
      ["00:00", "00:01"],
      ["23:59", "24:00"]
    ] as const)
      assert.isTrue(Result.isSuccess(read({ ...office, start, end })))
  })

  it("every refusal is a sentence that names what is wanted", () => {
    const cases: ReadonlyArray<readonly [string, Fields]> = [
      ["must be none, at or in", { expiry_mode: "soon" }],
      ["must be a date and time, such as 2026-01-31T18:00", { expiry_mode: "at" }],
      ["must be in the future", { expiry_mode: "at", expires_at: "2026-01-05T08:00" }],
      ["must be a whole number from 1 to 8760", { expiry_mode: "in" }],
      ["at least one day must be chosen", { schedule: "" }],
      ["must be a time from 00:00 to 23:59", { ...office, start: "" }],
      ["must be a time from 00:01 to 24:00", { ...office, end: "" }],
      ["must be after the start", { ...office, end: "09:00" }],
      ["must be minutes east of UTC, from -720 to 840", { ...office, tz_offset: "900" }]
    ]
    for (const [reason, form] of cases) {
      const answer = read(form)
      assert.strictEqual(Result.isFailure(answer) && answer.failure.reason, reason)
    }
  })

  it("knows all seven days", () => {
    for (const day of [0, 1, 2, 3, 4, 5, 6]) {
      const policy = Result.getOrThrow(read({ schedule: "on", [`day${day}`]: "on", start: "00:00", end: "24:00" }))
      assert.deepStrictEqual(
        policy,
        policyOf({ schedule: { tz_offset_minutes: 0, slots: [{ day, start_minute: 0, end_minute: 1440 }] } })
      )
    }
    assert.strictEqual(fieldOf({ schedule: "on", day7: "on", start: "00:00", end: "24:00" }), "day0")
  })

  it.prop(
    "a date is read exactly when the calendar has it",
    [between(1970, 2400), between(0, 13), between(0, 32), between(0, 24), between(0, 60), between(0, 60)],
    ([year, month, date, hour, minute, second]) => {
      const two = (n: number) => String(n).padStart(2, "0")
      const text = `${year}-${two(month)}-${two(date)}T${two(hour)}:${two(minute)}:${two(second)}`
      const real = new Date(`${text}Z`)
      const exists = !Number.isNaN(real.getTime()) && real.toISOString().startsWith(text)
      assert.strictEqual(utcSeconds(text), exists ? UnixSeconds.make(real.getTime() / 1000) : null)
    },
    { arbitrary: { runs: 200 } }
  )

  it("knows how long every month is", () => {
    const last = (year: number, month: string) =>
      [28, 29, 30, 31].findLast((d) => utcSeconds(`${year}-${month}-${d}T00:00`) !== null)
    const months = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"]
    assert.deepStrictEqual(
      months.map((m) => last(2026, m)),
      [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    )
    assert.deepStrictEqual(
      [2000, 2024, 2100].map((year) => last(year, "02")),
      [29, 29, 28]
    )
    for (const text of [
      "2026-00-01T00:00",
      "2026-13-01T00:00",
      "2026-01-00T00:00",
      "2026-01-01T24:00",
      "2026-01-01T00:60",
      "2026-01-01T00:00:60",
      "2026-01-01",
      "2026-01-01T00:00Z",
      " 2026-01-01T00:00",
      "26-01-01T00:00"
    ])
      assert.isNull(utcSeconds(text), text)
  })
})
