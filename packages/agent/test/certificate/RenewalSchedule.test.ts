import { assert, describe, it } from "@effect/vitest"
import { dueAt, judgedTime, pause } from "../../src/certificate/RenewalSchedule.ts"

const day = 86_400_000
const life = { notBefore: 0, notAfter: 90 * day }

describe("the renewal of a certificate", () => {
  it("is due when a third of its life is left, or within the window of its authority", () => {
    assert.strictEqual(dueAt(life, undefined, 0.5), 60 * day)
    assert.strictEqual(dueAt(life, { start: 10 * day, end: 20 * day }, 0.5), 15 * day)
    assert.strictEqual(
      dueAt(life, { start: 20 * day, end: 10 * day }, 0.5),
      60 * day,
      "a window that ends before it begins"
    )
    assert.strictEqual(dueAt(life, { start: 1e15, end: 1e15 }, 0), 81 * day, "never later than a tenth before the end")
    assert.strictEqual(
      dueAt({ notBefore: 0, notAfter: 360_000 }, undefined, 0),
      240_000,
      "a certificate of six minutes"
    )
  })

  it("is judged by the control plane's clock where this machine's is far off it, in both directions", () => {
    const year = 365 * day
    assert.strictEqual(judgedTime(year, 2 * year), 2 * year)
    assert.strictEqual(judgedTime(3 * year, 2 * year), 2 * year)
    assert.strictEqual(judgedTime(year, year + 3_600_000), year)
    assert.strictEqual(judgedTime(year, undefined), year)
  })
})

describe("the pause between two looks", () => {
  const failed = {
    _tag: "Failed",
    sentence: "",
    retryAfter: undefined,
    haste: "offer",
    isUnreachable: false,
    isUnanswered: false
  } as const
  const waiting = { _tag: "Waiting", status: "gelb", note: "waits", isTurn: false } as const

  it("grows from seconds to a quarter of an hour while the name waits in the queue", () => {
    const seconds = [0, 1, 5, 8, 1000].map((times) => pause(waiting, times))
    assert.deepStrictEqual(seconds, [5, 10, 160, 900, 900])
  })

  it("stays at seconds while another agent of the tunnel has its turn", () => {
    const seconds = [0, 1, 5, 8, 1000].map((times) => pause({ ...waiting, isTurn: true }, times))
    assert.deepStrictEqual(seconds, [5, 5, 5, 5, 5])
  })

  it("is short at first after no answer, and soon as long as after a refusal", () => {
    const away = { ...failed, isUnreachable: true, isUnanswered: true }
    assert.deepStrictEqual(
      [0, 1, 2, 3, 1000].map((times) => pause(away, times)),
      [10, 20, 40, 80, 900]
    )
    assert.strictEqual(pause({ ...away, retryAfter: 7200 }, 0), 7200)
    assert.strictEqual(pause({ ...failed, isUnreachable: true }, 0), 60)
  })

  it("is never six hours after a failure, and as long as the authority asked for", () => {
    assert.deepStrictEqual(
      [0, 1, 1000].map((times) => pause(failed, times)),
      [60, 120, 900]
    )
    assert.strictEqual(pause({ ...failed, haste: "renewal" }, 1000), 3600)
    assert.strictEqual(pause({ ...failed, haste: "disk" }, 1000), 60)
    assert.strictEqual(pause({ ...failed, retryAfter: 7200 }, 0), 7200)
  })

  it("ends when the renewal is due, and after six hours at the latest", () => {
    const seconds = [1000, 10_000_000, 1e12].map((dueAt) => pause({ _tag: "Current", dueAt, until: dueAt, now: 0 }, 0))
    assert.deepStrictEqual(seconds, [5, 10_000, 21_600])
  })
})
