import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type Admission, backOff, claimWindow, transition, view } from "@catenet/domain/certificates/AdmissionMachine"
import { refusal } from "../values/history.ts"

const rot: Admission = { _tag: "Rot" }
const queued: Admission = { _tag: "Gelb", claim: { _tag: "Queued", queuedAt: 5, lapses: 2 } }
const offered: Admission = { _tag: "Gelb", claim: { _tag: "Offered", ca: "zerossl", deadline: 1000, lapses: 2 } }
const lapsed: Admission = { _tag: "Gelb", claim: { _tag: "Lapsed", retryAt: 2000, lapses: 3 } }
const gruen: Admission = { _tag: "Gruen", ca: "zerossl", pendingRevert: false, loggedAt: 100 }
const own: Admission = { _tag: "Gruen", ca: null, pendingRevert: true, loggedAt: null }

const at = (state: Admission, event: Parameters<typeof transition>[1], now: number) =>
  Result.getOrThrow(transition(state, event, now))

describe("certificate admission", () => {
  it("authorization queues a rot hostname and repeats the tier of the others", () => {
    assert.deepStrictEqual(at(rot, { _tag: "Authorized" }, 7), {
      next: { _tag: "Gelb", claim: { _tag: "Queued", queuedAt: 7, lapses: 0 } },
      effects: [{ _tag: "SetTier", tier: "gelb" }]
    })
    assert.deepStrictEqual(at(offered, { _tag: "Authorized" }, 7), {
      next: offered,
      effects: [{ _tag: "SetTier", tier: "gelb", admissionUntil: 1000 }]
    })
    assert.deepStrictEqual(at(gruen, { _tag: "Authorized" }, 7), {
      next: gruen,
      effects: [{ _tag: "SetTier", tier: "passthrough" }]
    })
  })

  it("an offer is open for 48 hours and lapses at its deadline, not before", () => {
    assert.strictEqual(claimWindow, 48 * 3600)
    assert.deepStrictEqual(at(queued, { _tag: "Offer", ca: "zerossl" }, 10), {
      next: { _tag: "Gelb", claim: { _tag: "Offered", ca: "zerossl", deadline: 10 + claimWindow, lapses: 2 } },
      effects: [{ _tag: "SetTier", tier: "gelb", admissionUntil: 10 + claimWindow }]
    })
    assert.strictEqual(at(offered, { _tag: "TimePassed" }, 999).next, offered)
    assert.deepStrictEqual(at(offered, { _tag: "TimePassed" }, 1000), {
      next: { _tag: "Gelb", claim: { _tag: "Lapsed", retryAt: 1000 + backOff(3), lapses: 3 } },
      effects: []
    })
  })

  it("a lapsed hostname is queued again after its back-off, or at once when its owner asks", () => {
    assert.strictEqual(at(lapsed, { _tag: "TimePassed" }, 1999).next, lapsed)
    const again = { _tag: "Gelb", claim: { _tag: "Queued", queuedAt: 2000, lapses: 3 } }
    assert.deepStrictEqual<unknown>(at(lapsed, { _tag: "TimePassed" }, 2000), { next: again, effects: [] })
    assert.deepStrictEqual<unknown>(at(lapsed, { _tag: "Reclaim" }, 2000), { next: again, effects: [] })
  })

  it("a completed issuance makes any gelb hostname gruen", () => {
    assert.deepStrictEqual(at(offered, { _tag: "Issued" }, 50), {
      next: { _tag: "Gruen", ca: "zerossl", pendingRevert: true, loggedAt: 50 },
      effects: [
        { _tag: "LogIssuance", ca: "zerossl" },
        { _tag: "SetTier", tier: "passthrough" }
      ]
    })
    for (const state of [queued, lapsed]) {
      assert.deepStrictEqual(at(state, { _tag: "Issued" }, 50), {
        next: { _tag: "Gruen", ca: null, pendingRevert: true, loggedAt: null },
        effects: [{ _tag: "SetTier", tier: "passthrough" }]
      })
    }
  })

  it("renewals are logged once a day", () => {
    assert.deepStrictEqual(at(gruen, { _tag: "Issued" }, 100 + 86_399), { next: gruen, effects: [] })
    assert.deepStrictEqual(at(gruen, { _tag: "Issued" }, 100 + 86_400), {
      next: { ...gruen, loggedAt: 86_500 },
      effects: [{ _tag: "LogIssuance", ca: "zerossl" }]
    })
    assert.deepStrictEqual(at(own, { _tag: "Issued" }, 9e9).effects, [{ _tag: "SetTier", tier: "passthrough" }])
    assert.strictEqual(at(gruen, { _tag: "TimePassed" }, 9e9).next, gruen)
  })

  it("the edge's confirmation ends the reminders", () => {
    assert.deepStrictEqual(at(own, { _tag: "RevertConfirmed" }, 1).next, { ...own, pendingRevert: false })
    assert.deepStrictEqual(at(queued, { _tag: "RevertConfirmed" }, 1), { next: queued, effects: [] })
  })

  it("refuses what the state does not allow", () => {
    assert.strictEqual(refusal(transition(rot, { _tag: "Issued" }, 1)), "NotAuthorized")
    for (const state of [rot, offered, lapsed, gruen])
      assert.strictEqual(refusal(transition(state, { _tag: "Offer", ca: "x" }, 1)), "NotQueued")
    for (const state of [rot, queued, offered, gruen])
      assert.strictEqual(refusal(transition(state, { _tag: "Reclaim" }, 1)), "NotLapsed")
  })

  it("tells the agent no more than it may use", () => {
    assert.deepStrictEqual(view(rot, 1), { status: "rot", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(queued, 1), { status: "gelb", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(lapsed, 1), { status: "gelb", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(offered, 999), { status: "gelb", mayIssueNow: true, ca: "zerossl", deadline: 1000 })
    assert.deepStrictEqual(view(offered, 1000), { status: "gelb", mayIssueNow: false, ca: null, deadline: 1000 })
    assert.deepStrictEqual(view(gruen, 1), { status: "gruen", mayIssueNow: true, ca: "zerossl", deadline: null })
  })
})
