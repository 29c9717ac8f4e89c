import {
  type AdmissionState,
  type AdmissionStep,
  authorize,
  backOff,
  confirmRevert,
  issued,
  offer,
  offerSeconds,
  passTime,
  reassign,
  reclaim,
  view
} from "@catenet/domain/certificates/Admission"
import { ClaimNotLapsed, NotHostnameOwner } from "@catenet/domain/certificates/AdmissionErrors"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const rot: AdmissionState = { _tag: "Rot" }
const queued: AdmissionState = { _tag: "Gelb", slot: { _tag: "Queued", queuedAt: 5, lapses: 2, ca: null } }
const offered: AdmissionState = { _tag: "Gelb", slot: { _tag: "Offered", ca: "zerossl", deadline: 1000, lapses: 2 } }
const lapsed: AdmissionState = { _tag: "Gelb", slot: { _tag: "Lapsed", retryAt: 2000, lapses: 3, ca: "zerossl" } }
const gruen: AdmissionState = { _tag: "Gruen", ca: "zerossl", pendingRevert: false, loggedAt: 100 }
const own: AdmissionState = { _tag: "Gruen", ca: null, pendingRevert: true, loggedAt: null }

const made = (answer: Result.Result<AdmissionStep, unknown>) => Result.getOrThrow(answer)

describe("certificate admission", () => {
  it("authorization queues a rot hostname and repeats the tier of the others", () => {
    assert.deepStrictEqual(authorize(rot, 7), {
      next: { _tag: "Gelb", slot: { _tag: "Queued", queuedAt: 7, lapses: 0, ca: null } },
      effects: [{ _tag: "SetTier", tier: "gelb" }]
    })
    assert.deepStrictEqual(authorize(offered, 7), {
      next: offered,
      effects: [{ _tag: "SetTier", tier: "gelb", admissionUntil: 1000 }]
    })
    assert.deepStrictEqual(authorize(gruen, 7), {
      next: gruen,
      effects: [{ _tag: "SetTier", tier: "passthrough" }]
    })
  })

  it("an offer is open for 48 hours and lapses at its deadline, not before", () => {
    assert.strictEqual(offerSeconds, 48 * 3600)
    assert.deepStrictEqual(offer(queued, "zerossl", 10), {
      next: { _tag: "Gelb", slot: { _tag: "Offered", ca: "zerossl", deadline: 10 + offerSeconds, lapses: 2 } },
      effects: [{ _tag: "SetTier", tier: "gelb", admissionUntil: 10 + offerSeconds }]
    })
    assert.strictEqual(passTime(offered, 999).next, offered)
    assert.deepStrictEqual(passTime(offered, 1000), {
      next: { _tag: "Gelb", slot: { _tag: "Lapsed", retryAt: 1000 + backOff(3), lapses: 3, ca: "zerossl" } },
      effects: []
    })
  })

  it("a lapsed hostname is queued again after its back-off, or at once when its owner asks", () => {
    assert.strictEqual(passTime(lapsed, 1999).next, lapsed)
    const again = { _tag: "Gelb", slot: { _tag: "Queued", queuedAt: 2000, lapses: 3, ca: "zerossl" } }
    assert.deepStrictEqual<unknown>(passTime(lapsed, 2000), { next: again, effects: [] })
    assert.deepStrictEqual<unknown>(made(reclaim(lapsed, 2000)), { next: again, effects: [] })
  })

  it("a completed issuance makes any gelb hostname gruen", () => {
    assert.deepStrictEqual(made(issued(offered, 50)), {
      next: { _tag: "Gruen", ca: "zerossl", pendingRevert: true, loggedAt: 50 },
      effects: [
        { _tag: "LogIssuance", ca: "zerossl" },
        { _tag: "SetTier", tier: "passthrough" }
      ]
    })
    assert.deepStrictEqual(made(issued(queued, 50)), {
      next: { _tag: "Gruen", ca: null, pendingRevert: true, loggedAt: null },
      effects: [{ _tag: "SetTier", tier: "passthrough" }]
    })
  })

  it("a certificate that arrives after its offer lapsed counts for the authority of that offer", () => {
    const late = passTime(offered, 1000).next
    const again = passTime(late, 9e9).next
    for (const state of [lapsed, late, again, made(reclaim(late, 1001)).next])
      assert.deepStrictEqual(made(issued(state, 9e9)), {
        next: { _tag: "Gruen", ca: "zerossl", pendingRevert: true, loggedAt: 9e9 },
        effects: [
          { _tag: "LogIssuance", ca: "zerossl" },
          { _tag: "SetTier", tier: "passthrough" }
        ]
      })
  })

  it("a name whose authority is gone is given another, and keeps its deadline", () => {
    assert.deepStrictEqual(reassign(own, "zerossl").next, { ...own, ca: "zerossl" })
    assert.deepStrictEqual(reassign(offered, "other").next, {
      _tag: "Gelb",
      slot: { _tag: "Offered", ca: "other", deadline: 1000, lapses: 2 }
    })
    for (const state of [rot, queued, lapsed])
      assert.deepStrictEqual(reassign(state, "other"), { next: state, effects: [] })
  })

  it("renewals are logged once a day", () => {
    assert.deepStrictEqual(made(issued(gruen, 100 + 86_399)), { next: gruen, effects: [] })
    assert.deepStrictEqual(made(issued(gruen, 100 + 86_400)), {
      next: { ...gruen, loggedAt: 86_500 },
      effects: [{ _tag: "LogIssuance", ca: "zerossl" }]
    })
    assert.deepStrictEqual(made(issued(own, 9e9)).effects, [{ _tag: "SetTier", tier: "passthrough" }])
    assert.strictEqual(passTime(gruen, 9e9).next, gruen)
  })

  it("the edge's confirmation ends the reminders", () => {
    assert.deepStrictEqual(confirmRevert(own).next, { ...own, pendingRevert: false })
    assert.deepStrictEqual(confirmRevert(queued), { next: queued, effects: [] })
  })

  it("refuses what the state does not allow", () => {
    assert.deepStrictEqual(issued(rot, 1), Result.fail(new NotHostnameOwner()))
    for (const state of [rot, offered, lapsed, gruen])
      assert.deepStrictEqual(offer(state, "x", 1), { next: state, effects: [] })
    for (const state of [rot, queued, offered, gruen])
      assert.deepStrictEqual(reclaim(state, 1), Result.fail(new ClaimNotLapsed()))
  })

  it("tells the agent no more than it may use", () => {
    assert.deepStrictEqual(view(rot, 1), { status: "rot", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(queued, 1), { status: "gelb", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(lapsed, 1), { status: "gelb", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(offered, 999), { status: "gelb", mayIssueNow: true, ca: "zerossl", deadline: 1000 })
    assert.deepStrictEqual(view(offered, 1000), { status: "gelb", mayIssueNow: false, ca: null, deadline: null })
    assert.deepStrictEqual(view(gruen, 1), { status: "gruen", mayIssueNow: true, ca: "zerossl", deadline: null })
  })
})
