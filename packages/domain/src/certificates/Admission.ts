/**
 * Certificate admission of one hostname: `rot` (nothing yet), `gelb` (served with the shared certificate, waiting for its
 * own), `gruen` (own certificate, passed through unread). `CertificateBudget` decides which hostname is offered a
 * certificate, and from whom; whether a caller owns the hostname is decided before this machine is asked. A hostname never
 * goes back: neither from gelb nor from gruen to rot. All times are unix seconds.
 */
import { Result, Schema } from "effect"
import type { Tier } from "../edges/EdgeNode.ts"
import { TunnelStatus } from "../tunnels/Tunnel.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { type Step } from "../values/Step.ts"
import { ClaimNotLapsed, NotHostnameOwner } from "./AdmissionErrors.ts"

/** Where an admitted agent orders its certificate. */
export class CertificateAuthority extends Schema.Class<CertificateAuthority>("CertificateAuthority")({
  name: Schema.String,
  directory_url: Schema.String,
  requires_eab: Schema.Boolean,
  eab_kid: Schema.NullOr(Schema.String),
  eab_hmac_key_b64url: Schema.NullOr(Schema.String)
}) {}

/** The answer of `GET /agent/acme-admission/...`. */
export class Admission extends Schema.Class<Admission>("Admission")({
  status: TunnelStatus,
  may_issue_now: Schema.Boolean,
  assigned_ca: Schema.NullOr(CertificateAuthority),
  claim_deadline: Schema.NullOr(UnixSeconds)
}) {}

/**
 * Where a gelb hostname stands in the queue for its certificate. `lapses` counts offers that were not taken in time. After
 * a lapse `ca` stays the authority of the last offer: an order that was begun in time may still end later.
 */
export type CertificateSlot =
  | { readonly _tag: "Queued"; readonly queuedAt: number; readonly lapses: number; readonly ca: string | null }
  | { readonly _tag: "Offered"; readonly ca: string; readonly deadline: number; readonly lapses: number }
  | { readonly _tag: "Lapsed"; readonly retryAt: number; readonly lapses: number; readonly ca: string | null }

/** `pendingRevert`: the edge has not yet confirmed passthrough. `loggedAt`: last issuance counted against a budget. */
export type AdmissionState =
  | { readonly _tag: "Rot" }
  | { readonly _tag: "Gelb"; readonly slot: CertificateSlot }
  | {
      readonly _tag: "Gruen"
      readonly ca: string | null
      readonly pendingRevert: boolean
      readonly loggedAt: number | null
    }

/**
 * `SetTier` is an order to the edge; `admissionUntil` says until when an authority may validate the hostname there,
 * whatever its access window says. `LogIssuance` counts one certificate against a budget.
 */
export type AdmissionEffect =
  | { readonly _tag: "SetTier"; readonly tier: Tier; readonly admissionUntil?: number }
  | { readonly _tag: "LogIssuance"; readonly ca: string }

export type AdmissionStep = Step<AdmissionState, AdmissionEffect>

/** Seconds in which an offer can be taken: 48 hours. */
export const offerSeconds = 172_800

const logSpacing = 86_400
const firstBackOff = 21_600
const longestBackOff = 604_800

/**
 * Seconds until a hostname that let its offer lapse joins the queue again: six hours, doubled with every
 * further lapse, at most a week.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { backOff } from "@catenet/domain/certificates/Admission"
 *
 * assert.deepEqual([1, 2, 3, 99].map(backOff), [21_600, 43_200, 86_400, 604_800])
 * ```
 */
export const backOff = (lapses: number): number => Math.min(firstBackOff * 2 ** (lapses - 1), longestBackOff)

const gelb = (slot: CertificateSlot): AdmissionState => ({ _tag: "Gelb", slot })

const setGelb = (slot: CertificateSlot): AdmissionEffect =>
  slot._tag === "Offered"
    ? { _tag: "SetTier", tier: "gelb", admissionUntil: slot.deadline }
    : { _tag: "SetTier", tier: "gelb" }

const again = ({ ca, lapses }: CertificateSlot, now: number): CertificateSlot => ({
  _tag: "Queued",
  queuedAt: now,
  lapses,
  ca
})

const slotAt = (slot: CertificateSlot, now: number): CertificateSlot => {
  if (slot._tag === "Offered" && now >= slot.deadline) {
    const lapses = slot.lapses + 1
    return { _tag: "Lapsed", retryAt: now + backOff(lapses), lapses, ca: slot.ca }
  }
  return slot._tag === "Lapsed" && now >= slot.retryAt ? again(slot, now) : slot
}

/** A hostname with a certificate of its own making was never assigned an authority, and counts against no budget. */
const completed = (ca: string | null, loggedAt: number | null, pendingRevert: boolean, now: number): AdmissionStep => {
  const revert: ReadonlyArray<AdmissionEffect> = pendingRevert ? [{ _tag: "SetTier", tier: "passthrough" }] : []
  const counts = ca !== null && (loggedAt === null || now - loggedAt >= logSpacing)
  return counts
    ? { next: { _tag: "Gruen", ca, pendingRevert, loggedAt: now }, effects: [{ _tag: "LogIssuance", ca }, ...revert] }
    : { next: { _tag: "Gruen", ca, pendingRevert, loggedAt }, effects: revert }
}

/**
 * The hostname is recorded as owned: a rot one joins the queue. The tier of the others is repeated to the edge.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { authorize } from "@catenet/domain/certificates/Admission"
 *
 * assert.deepEqual(authorize({ _tag: "Rot" }, 100).effects, [{ _tag: "SetTier", tier: "gelb" }])
 * ```
 */
export const authorize = (state: AdmissionState, now: number): AdmissionStep => {
  if (state._tag === "Gruen") return { next: state, effects: [{ _tag: "SetTier", tier: "passthrough" }] }
  const next = state._tag === "Gelb" ? state : gelb({ _tag: "Queued", queuedAt: now, lapses: 0, ca: null })
  return { next, effects: next._tag === "Gelb" ? [setGelb(next.slot)] : [] }
}

/**
 * Offers a certificate of an authority to a hostname that waits. An offer to any other hostname changes nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { authorize, offer } from "@catenet/domain/certificates/Admission"
 *
 * const { next } = offer(authorize({ _tag: "Rot" }, 100).next, "letsencrypt", 200)
 * assert.deepEqual(next, { _tag: "Gelb", slot: { _tag: "Offered", ca: "letsencrypt", deadline: 173_000, lapses: 0 } })
 * ```
 */
export const offer = (state: AdmissionState, ca: string, now: number): AdmissionStep => {
  if (state._tag !== "Gelb" || state.slot._tag !== "Queued") return { next: state, effects: [] }
  const slot: CertificateSlot = { _tag: "Offered", ca, deadline: now + offerSeconds, lapses: state.slot.lapses }
  return { next: gelb(slot), effects: [setGelb(slot)] }
}

/**
 * Time has passed: an offer lapses at its deadline, and a lapsed hostname joins the queue again after its back-off.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { passTime } from "@catenet/domain/certificates/Admission"
 *
 * const offered = { _tag: "Gelb", slot: { _tag: "Offered", ca: "zerossl", deadline: 500, lapses: 0 } } as const
 * const lapsed = { _tag: "Lapsed", retryAt: 22_100, lapses: 1 } as const
 * assert.equal(passTime(offered, 499).next, offered)
 * assert.deepEqual(passTime(offered, 500).next, { _tag: "Gelb", slot: { ...lapsed, ca: "zerossl" } })
 * ```
 */
export const passTime = (state: AdmissionState, now: number): AdmissionStep => {
  if (state._tag !== "Gelb") return { next: state, effects: [] }
  const slot = slotAt(state.slot, now)
  return { next: slot === state.slot ? state : gelb(slot), effects: [] }
}

/**
 * The owner asks to queue again before the back-off is over.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { reclaim } from "@catenet/domain/certificates/Admission"
 *
 * const lapsed = { _tag: "Gelb", slot: { _tag: "Lapsed", retryAt: 900, lapses: 1, ca: null } } as const
 * assert.ok(Result.isSuccess(reclaim(lapsed, 100)))
 * assert.ok(Result.isFailure(reclaim({ _tag: "Rot" }, 100)))
 * ```
 */
export const reclaim = (state: AdmissionState, now: number): Result.Result<AdmissionStep, ClaimNotLapsed> =>
  state._tag === "Gelb" && state.slot._tag === "Lapsed"
    ? Result.succeed({ next: gelb(again(state.slot, now)), effects: [] })
    : Result.fail(new ClaimNotLapsed())

/**
 * The owner wants no certificate: an offer that is open goes back, and the hostname stands at the end of the queue.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { withdraw } from "@catenet/domain/certificates/Admission"
 *
 * const offered = { _tag: "Gelb", slot: { _tag: "Offered", ca: "zerossl", deadline: 500, lapses: 0 } } as const
 * assert.deepEqual(withdraw(offered, 100).effects, [{ _tag: "SetTier", tier: "gelb" }])
 * assert.equal(withdraw({ _tag: "Rot" }, 100).effects.length, 0)
 * ```
 */
export const withdraw = (state: AdmissionState, now: number): AdmissionStep => {
  if (state._tag !== "Gelb" || state.slot._tag !== "Offered") return { next: state, effects: [] }
  const slot: CertificateSlot = again(state.slot, now)
  return { next: gelb(slot), effects: [setGelb(slot)] }
}

/**
 * The agent has its certificate. A rot hostname is not recorded as owned.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { issued } from "@catenet/domain/certificates/Admission"
 *
 * const offered = { _tag: "Gelb", slot: { _tag: "Offered", ca: "zerossl", deadline: 500, lapses: 0 } } as const
 * assert.equal(Result.getOrThrow(issued(offered, 300)).next._tag, "Gruen")
 * assert.ok(Result.isFailure(issued({ _tag: "Rot" }, 300)))
 * ```
 */
export const issued = (state: AdmissionState, now: number): Result.Result<AdmissionStep, NotHostnameOwner> => {
  if (state._tag === "Rot") return Result.fail(new NotHostnameOwner())
  if (state._tag === "Gruen") return Result.succeed(completed(state.ca, state.loggedAt, state.pendingRevert, now))
  return Result.succeed(completed(state.slot.ca, null, true, now))
}

/**
 * Another authority takes the place of one that is not there any more, or gives a gruen hostname one to renew with. The
 * deadline of an open offer stays. A hostname that may not issue is left as it is.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { reassign } from "@catenet/domain/certificates/Admission"
 *
 * const gruen = { _tag: "Gruen", ca: null, pendingRevert: false, loggedAt: null } as const
 * assert.deepEqual(reassign(gruen, "letsencrypt").next, { ...gruen, ca: "letsencrypt" })
 * ```
 */
export const reassign = (state: AdmissionState, ca: string): AdmissionStep => {
  if (state._tag === "Gruen") return { next: { ...state, ca }, effects: [] }
  if (state._tag !== "Gelb" || state.slot._tag !== "Offered") return { next: state, effects: [] }
  return { next: gelb({ ...state.slot, ca }), effects: [] }
}

/**
 * The edge passes the hostname through.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { confirmRevert } from "@catenet/domain/certificates/Admission"
 *
 * const gruen = { _tag: "Gruen", ca: null, pendingRevert: true, loggedAt: null } as const
 * assert.deepEqual(confirmRevert(gruen).next, { ...gruen, pendingRevert: false })
 * ```
 */
export const confirmRevert = (state: AdmissionState): AdmissionStep => ({
  next: state._tag === "Gruen" ? { ...state, pendingRevert: false } : state,
  effects: []
})

/** What the agent of a hostname learns. `deadline` is null unless an offer is open. */
export interface AdmissionView {
  readonly status: TunnelStatus
  readonly mayIssueNow: boolean
  readonly ca: string | null
  readonly deadline: number | null
}

/**
 * The answer to an agent's poll. The authority is named only to someone who may issue now.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { view } from "@catenet/domain/certificates/Admission"
 *
 * const offered = { _tag: "Gelb", slot: { _tag: "Offered", ca: "zerossl", deadline: 500, lapses: 0 } } as const
 * assert.deepEqual(view(offered, 499), { status: "gelb", mayIssueNow: true, ca: "zerossl", deadline: 500 })
 * assert.deepEqual(view(offered, 500), { status: "gelb", mayIssueNow: false, ca: null, deadline: null })
 * ```
 */
export const view = (state: AdmissionState, now: number): AdmissionView => {
  switch (state._tag) {
    case "Rot":
      return { status: "rot", mayIssueNow: false, ca: null, deadline: null }
    case "Gruen":
      return { status: "gruen", mayIssueNow: true, ca: state.ca, deadline: null }
    case "Gelb": {
      const { slot } = state
      return slot._tag === "Offered" && now < slot.deadline
        ? { status: "gelb", mayIssueNow: true, ca: slot.ca, deadline: slot.deadline }
        : { status: "gelb", mayIssueNow: false, ca: null, deadline: null }
    }
  }
}
