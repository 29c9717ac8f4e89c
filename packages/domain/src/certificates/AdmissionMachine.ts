/**
 * Certificate admission of one hostname: `rot` (nothing yet), `gelb` (served with the shared certificate, waiting for its
 * own), `gruen` (own certificate, passed through unread). Which hostname is offered a certificate, and from whom, is
 * decided by `CertificateBudget`; whether a caller owns the hostname is decided before this machine is asked.
 * A hostname never goes back: neither from gelb nor from gruen to rot.
 */
import { type Result } from "effect"
import { refuse, step, type Step } from "../values/Step.ts"

/** Where a gelb hostname stands in the queue for its certificate. `lapses` counts offers that were not taken in time. */
export type Claim =
  | { readonly _tag: "Queued"; readonly queuedAt: number; readonly lapses: number }
  | { readonly _tag: "Offered"; readonly ca: string; readonly deadline: number; readonly lapses: number }
  | { readonly _tag: "Lapsed"; readonly retryAt: number; readonly lapses: number }

/** `pendingRevert`: the edge has not yet confirmed passthrough. `loggedAt`: last issuance counted against a budget. */
export type Admission =
  | { readonly _tag: "Rot" }
  | { readonly _tag: "Gelb"; readonly claim: Claim }
  | {
      readonly _tag: "Gruen"
      readonly ca: string | null
      readonly pendingRevert: boolean
      readonly loggedAt: number | null
    }

export type AdmissionEvent =
  | { readonly _tag: "Authorized" }
  | { readonly _tag: "Offer"; readonly ca: string }
  | { readonly _tag: "TimePassed" }
  | { readonly _tag: "Reclaim" }
  | { readonly _tag: "Issued" }
  | { readonly _tag: "RevertConfirmed" }

/**
 * `SetTier` is a call to the edge; `admissionUntil` says until when an authority may validate the hostname there, whatever its
 * access window says. `LogIssuance` counts one certificate against a budget.
 */
export type AdmissionEffect =
  | { readonly _tag: "SetTier"; readonly tier: "gelb" | "passthrough"; readonly admissionUntil?: number }
  | { readonly _tag: "LogIssuance"; readonly ca: string }

/** `NotAuthorized`: still rot. `NotQueued`: an offer for a hostname that does not wait. `NotLapsed`: nothing to reclaim. */
export type AdmissionRefusal = { readonly _tag: "NotAuthorized" | "NotQueued" | "NotLapsed" }

type Answer = Result.Result<Step<Admission, AdmissionEffect>, AdmissionRefusal>

/** Seconds in which an offer can be taken: 48 hours. */
export const claimWindow = 172_800

const logSpacing = 86_400
const firstBackOff = 21_600
const longestBackOff = 604_800

/**
 * Seconds until a hostname that let its offer lapse joins the queue again by itself: six hours, doubled with every
 * further lapse, at most a week.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { backOff } from "@catenet/domain/certificates/AdmissionMachine"
 *
 * assert.deepEqual([1, 2, 3, 99].map(backOff), [21_600, 43_200, 86_400, 604_800])
 * ```
 */
export const backOff = (lapses: number): number => Math.min(firstBackOff * 2 ** (lapses - 1), longestBackOff)

const gelb = (claim: Claim): Admission => ({ _tag: "Gelb", claim })

const setGelb = (claim: Claim): AdmissionEffect =>
  claim._tag === "Offered"
    ? { _tag: "SetTier", tier: "gelb", admissionUntil: claim.deadline }
    : { _tag: "SetTier", tier: "gelb" }

const timePassed = (claim: Claim, now: number): Claim => {
  if (claim._tag === "Offered" && now >= claim.deadline) {
    const lapses = claim.lapses + 1
    return { _tag: "Lapsed", retryAt: now + backOff(lapses), lapses }
  }
  if (claim._tag === "Lapsed" && now >= claim.retryAt) return { _tag: "Queued", queuedAt: now, lapses: claim.lapses }
  return claim
}

/** A hostname with a certificate of its own making was never assigned an authority, and counts against no budget. */
const issued = (ca: string | null, loggedAt: number | null, pendingRevert: boolean, now: number): Answer => {
  const revert: ReadonlyArray<AdmissionEffect> = pendingRevert ? [{ _tag: "SetTier", tier: "passthrough" }] : []
  const counts = ca !== null && (loggedAt === null || now - loggedAt >= logSpacing)
  return counts
    ? step({ _tag: "Gruen", ca, pendingRevert, loggedAt: now }, { _tag: "LogIssuance", ca }, ...revert)
    : step({ _tag: "Gruen", ca, pendingRevert, loggedAt }, ...revert)
}

/**
 * The machine. `now` is unix seconds. `TimePassed` is asked by the sweep and changes nothing before its time.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { type Admission, type AdmissionEvent, transition } from "@catenet/domain/certificates/AdmissionMachine"
 *
 * const after = (state: Admission, event: AdmissionEvent, now: number) => Result.getOrThrow(transition(state, event, now)).next
 * const queued = after({ _tag: "Rot" }, { _tag: "Authorized" }, 100)
 * const offered = after(queued, { _tag: "Offer", ca: "letsencrypt" }, 200)
 * assert.equal(after(offered, { _tag: "Issued" }, 300)._tag, "Gruen")
 * assert.ok(Result.isFailure(transition({ _tag: "Rot" }, { _tag: "Issued" }, 300)))
 * ```
 */
export const transition = (state: Admission, event: AdmissionEvent, now: number): Answer => {
  switch (event._tag) {
    case "Authorized": {
      if (state._tag === "Gruen") return step(state, { _tag: "SetTier", tier: "passthrough" })
      const claim: Claim = state._tag === "Gelb" ? state.claim : { _tag: "Queued", queuedAt: now, lapses: 0 }
      return step(state._tag === "Gelb" ? state : gelb(claim), setGelb(claim))
    }
    case "Offer": {
      if (state._tag !== "Gelb" || state.claim._tag !== "Queued") return refuse({ _tag: "NotQueued" })
      const { lapses } = state.claim
      const claim: Claim = { _tag: "Offered", ca: event.ca, deadline: now + claimWindow, lapses }
      return step(gelb(claim), setGelb(claim))
    }
    case "TimePassed": {
      if (state._tag !== "Gelb") return step(state)
      const claim = timePassed(state.claim, now)
      return step(claim === state.claim ? state : gelb(claim))
    }
    case "Reclaim":
      if (state._tag !== "Gelb" || state.claim._tag !== "Lapsed") return refuse({ _tag: "NotLapsed" })
      return step(gelb({ _tag: "Queued", queuedAt: now, lapses: state.claim.lapses }))
    case "Issued":
      if (state._tag === "Rot") return refuse({ _tag: "NotAuthorized" })
      if (state._tag === "Gruen") return issued(state.ca, state.loggedAt, state.pendingRevert, now)
      return issued(state.claim._tag === "Offered" ? state.claim.ca : null, null, true, now)
    case "RevertConfirmed":
      return step(state._tag === "Gruen" ? { ...state, pendingRevert: false } : state)
  }
}

/** What the agent of a hostname is told. `deadline` is null unless a claim is open. */
export interface AdmissionView {
  readonly status: "rot" | "gelb" | "gruen"
  readonly mayIssueNow: boolean
  readonly ca: string | null
  readonly deadline: number | null
}

/**
 * The answer to an agent's poll. The authority is named only to someone who may issue now.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { view } from "@catenet/domain/certificates/AdmissionMachine"
 *
 * const offered = { _tag: "Gelb", claim: { _tag: "Offered", ca: "zerossl", deadline: 500, lapses: 0 } } as const
 * assert.deepEqual(view(offered, 499), { status: "gelb", mayIssueNow: true, ca: "zerossl", deadline: 500 })
 * assert.deepEqual(view(offered, 500), { status: "gelb", mayIssueNow: false, ca: null, deadline: 500 })
 * ```
 */
export const view = (state: Admission, now: number): AdmissionView => {
  switch (state._tag) {
    case "Rot":
      return { status: "rot", mayIssueNow: false, ca: null, deadline: null }
    case "Gruen":
      return { status: "gruen", mayIssueNow: true, ca: state.ca, deadline: null }
    case "Gelb": {
      if (state.claim._tag !== "Offered") return { status: "gelb", mayIssueNow: false, ca: null, deadline: null }
      const { ca, deadline } = state.claim
      const mayIssueNow = now < deadline
      return { status: "gelb", mayIssueNow, ca: mayIssueNow ? ca : null, deadline }
    }
  }
}
