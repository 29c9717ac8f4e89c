import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type Form, readForm, rearmSeconds, transition, utcSeconds } from "@catenet/domain/tunnels/AccessForm"
import { isOpen, type Policy } from "@catenet/domain/tunnels/AccessWindow"
import { between, history, often, refusal } from "../values/history.ts"

const now = Date.UTC(2026, 0, 5, 8) / 1000
const office: Form = { schedule: "on", day0: "on", day6: "", start: "09:00", end: "24:00", tz_offset: "330" }
const read = (form: Form, current: Policy | null = null) => readForm(form, current, now)
const fieldOf = (form: Form) => {
  const answer = read(form)
  return Result.isFailure(answer) && answer.failure._tag === "AccessFormInvalid" ? answer.failure.field : undefined
}

describe("the access form", () => {
  it("reads expiries and schedules", () => {
    assert.deepStrictEqual(
      read(office),
      Result.succeed({
        expires_at: null,
        schedule: {
          tz_offset_minutes: 330,
          slots: [
            { day: 0, start_minute: 540, end_minute: 1440 },
            { day: 6, start_minute: 540, end_minute: 1440 }
          ]
        }
      })
    )
    for (const [hours, seconds] of [
      ["1", 3600],
      ["8760", 8760 * 3600],
      [" 2 ", 7200]
    ] as const) {
      const answer = read({ expiry_mode: "in", expires_in_hours: hours })
      assert.deepStrictEqual(answer, Result.succeed({ expires_at: now + seconds, schedule: null }))
    }
    for (const text of ["2026-01-05T08:01", "2026-01-05 08:01", "2026-01-05T08:01:00"]) {
      const answer = read({ expiry_mode: "at", expires_at: text })
      assert.deepStrictEqual(answer, Result.succeed({ expires_at: now + 60, schedule: null }))
    }
    assert.deepStrictEqual(Result.getOrThrow(read({ ...office, tz_offset: undefined }))?.schedule?.tz_offset_minutes, 0)
  })

  it("nothing chosen means unrestricted", () => {
    for (const form of [{}, { expiry_mode: "" }, { expiry_mode: "none", expires_at: "rubbish", day0: "on" }])
      assert.deepStrictEqual(read(form), Result.succeed(null))
  })

  it("names the field that cannot be used", () => {
    const cases: ReadonlyArray<readonly [string, Form]> = [
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
    const cases: ReadonlyArray<readonly [string, Form]> = [
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
      assert.strictEqual(Result.isFailure(answer) && "reason" in answer.failure && answer.failure.reason, reason)
    }
  })

  it("knows all seven days", () => {
    for (const day of [0, 1, 2, 3, 4, 5, 6]) {
      const policy = Result.getOrThrow(read({ schedule: "on", [`day${day}`]: "on", start: "00:00", end: "24:00" }))
      assert.deepStrictEqual(policy?.schedule?.slots, [{ day, start_minute: 0, end_minute: 1440 }])
    }
    assert.strictEqual(fieldOf({ schedule: "on", day7: "on", start: "00:00", end: "24:00" }), "day0")
  })

  it("re-arming keeps the schedule and ignores everything else", () => {
    const current: Policy = { expires_at: now - 5, schedule: { tz_offset_minutes: 60, slots: [] } }
    assert.deepStrictEqual(
      read({ rearm: "", expiry_mode: "soon" }, current),
      Result.succeed({ ...current, expires_at: now + 86_400 })
    )
    assert.strictEqual(refusal(read({ rearm: "1" })), "NothingToRearm")
    const hours = { ...current, expires_at: null }
    assert.strictEqual(refusal(read({ rearm: "1" }, hours)), "NothingToRearm", "it has no expiry to move")
    assert.strictEqual(rearmSeconds, 24 * 3600)
  })

  it.prop(
    "a date is read exactly when the calendar has it",
    [between(1970, 2400), between(0, 13), between(0, 32), between(0, 24), between(0, 60), between(0, 60)],
    ([year, month, date, hour, minute, second]) => {
      const two = (n: number) => String(n).padStart(2, "0")
      const text = `${year}-${two(month)}-${two(date)}T${two(hour)}:${two(minute)}:${two(second)}`
      const real = new Date(`${text}Z`)
      const exists = !Number.isNaN(real.getTime()) && real.toISOString().startsWith(text)
      assert.strictEqual(utcSeconds(text), exists ? real.getTime() / 1000 : null)
    },
    often
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

const tunnel = { id: "t1", subject: "Ada" }
const Text = Schema.Literals([
  "",
  "on",
  "in",
  "at",
  "none",
  "5",
  "-60",
  "09:00",
  "17:30",
  "24:00",
  "2026-03-01T10:00",
  "=x"
])
const Event = Schema.Union([
  Schema.TaggedStruct("Saved", {
    wait: between(0, 90_000),
    form: Schema.Struct({
      rearm: Schema.optionalKey(Text),
      expiry_mode: Schema.optionalKey(Text),
      expires_at: Schema.optionalKey(Text),
      expires_in_hours: Schema.optionalKey(Text),
      schedule: Schema.optionalKey(Text),
      day2: Schema.optionalKey(Text),
      start: Schema.optionalKey(Text),
      end: Schema.optionalKey(Text),
      tz_offset: Schema.optionalKey(Text)
    })
  }),
  Schema.TaggedStruct("Saved", { wait: between(0, 90_000), form: Schema.Struct({ rearm: Text }) }),
  Schema.TaggedStruct("Cleared", { wait: between(0, 90_000) }),
  Schema.TaggedStruct("HostAuthorized", { wait: between(0, 90_000) })
])

describe("the access window's machine", () => {
  it.prop(
    "the edge always holds the policy in force, and a refusal changes nothing",
    [history(Event)],
    ([events]) => {
      let policy: Policy | null = null
      let atEdge: Policy | null = null
      let time = now
      for (const event of events) {
        time += event.wait
        const answer = transition(tunnel, policy, event, time)
        if (Result.isFailure(answer)) {
          assert.strictEqual(event._tag, "Saved")
          continue
        }
        const before: Policy | null = policy
        policy = answer.success.next
        const actions: Array<string> = []
        for (const effect of answer.success.effects) {
          if (effect._tag === "PushPolicy") atEdge = effect.policy
          else {
            actions.push(effect.action)
            assert.deepStrictEqual([effect.actor, effect.target], ["ada", "t1"])
            assert.strictEqual(effect.detail, policy === null ? "" : JSON.stringify(policy))
          }
        }
        assert.deepStrictEqual(atEdge, policy)
        if (event._tag === "HostAuthorized") {
          assert.deepStrictEqual(policy, before)
          assert.strictEqual(answer.success.effects.length, before === null ? 0 : 1)
        } else {
          assert.deepStrictEqual(actions, [
            policy === null ? "tunnel_access_policy_cleared" : "tunnel_access_policy_set"
          ])
        }
        if (event._tag === "Cleared") assert.isNull(policy)
        if (event._tag === "Saved" && event.form.rearm !== undefined) {
          assert.strictEqual(policy?.expires_at, time + 86_400)
          assert.deepStrictEqual(policy?.schedule, before?.schedule)
        }
        if (policy !== null && policy.schedule === null) assert.isTrue(isOpen(policy, time) || before === policy)
      }
    },
    often
  )

  it("pushes slots past midnight as two", () => {
    const nights: Policy = {
      expires_at: null,
      schedule: { tz_offset_minutes: 0, slots: [{ day: 0, start_minute: 1320, end_minute: 60 }] }
    }
    const { effects, next } = Result.getOrThrow(transition(tunnel, nights, { _tag: "HostAuthorized" }, now))
    assert.strictEqual(next, nights)
    const [push] = effects
    assert.strictEqual(push?._tag === "PushPolicy" ? push.policy?.schedule?.slots.length : 0, 2)
  })

  it("replaces the policy as a whole, unless it has expired already", () => {
    const until: Policy = { expires_at: now + 1, schedule: null }
    const replaced = Result.getOrThrow(transition(tunnel, null, { _tag: "Replaced", policy: until }, now))
    assert.deepStrictEqual(replaced.next, until)
    assert.deepStrictEqual(
      replaced.effects.map((effect) => effect._tag),
      ["PushPolicy", "Audit"]
    )
    assert.deepStrictEqual(
      Result.flip(transition(tunnel, until, { _tag: "Replaced", policy: { ...until, expires_at: now } }, now)),
      Result.succeed({ _tag: "AccessFormInvalid" as const, field: "expires_at", reason: "must be in the future" })
    )
    const nothing: Policy = { expires_at: null, schedule: null }
    assert.isNull(Result.getOrThrow(transition(tunnel, until, { _tag: "Replaced", policy: nothing }, now)).next)
  })
})
