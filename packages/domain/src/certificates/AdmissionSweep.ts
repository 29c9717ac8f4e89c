/**
 * One round of certificate admission over all hostnames, in this order: admit authorized names, repeat orders that
 * edges have not confirmed, end offers that were not taken, queue lapsed names again, and make the offers that the
 * budgets allow.
 */
import { type AdmissionEffect, type AdmissionState, authorize, offer, passTime } from "./Admission.ts"
import { type CertificateAuthority } from "./CertificateAuthorities.ts"
import { allocate, type Issuance, registeredDomain } from "./CertificateBudget.ts"

/** `authorized`: the ownership registry knows the hostname under a tunnel that is not deleted. */
export interface Candidate {
  readonly hostname: string
  readonly authorized: boolean
  /** The edge holds some of its visitors back, which it can only do while it ends their TLS: no certificate is offered. */
  readonly isGuarded: boolean
  /** Authorities that failed this hostname a short while ago. */
  readonly leftOut?: ReadonlyArray<string>
  /** Whose share of a domain's budget it uses; absent where the domain is not shared. */
  readonly account?: string | undefined
  readonly state: AdmissionState
}

/** What the sweep decided about one hostname: a new state, effects, or both. */
export interface Swept {
  readonly hostname: string
  readonly next: AdmissionState
  readonly effects: ReadonlyArray<AdmissionEffect>
}

/** The order to pass through is repeated until the edge has confirmed it. */
const reminders = (state: AdmissionState): ReadonlyArray<AdmissionEffect> =>
  state._tag === "Gruen" && state.pendingRevert ? [{ _tag: "SetTier", tier: "passthrough" }] : []

/**
 * Sweeps. Hostnames about which nothing is to be done are left out of the answer.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { sweep } from "@catenet/domain/certificates/AdmissionSweep"
 * import { certificateAuthorities } from "@catenet/domain/certificates/CertificateAuthorities"
 *
 * const candidate = { hostname: "a.example.net", authorized: true, isGuarded: false, state: { _tag: "Rot" } } as const
 * const [swept] = sweep([candidate], [], certificateAuthorities, 100)
 * assert.deepEqual(swept?.effects, [{ _tag: "SetTier", tier: "gelb", admissionUntil: 100 + 48 * 3600 }])
 * assert.equal(swept?.next._tag, "Gelb")
 * ```
 */
export const sweep = (
  candidates: ReadonlyArray<Candidate>,
  issuances: ReadonlyArray<Issuance>,
  authorities: ReadonlyArray<CertificateAuthority>,
  now: number
): ReadonlyArray<Swept> => {
  const moved = candidates.map(({ account, authorized, hostname, isGuarded, leftOut = [], state }) => {
    const { effects, next } = state._tag === "Rot" && authorized ? authorize(state, now) : passTime(state, now)
    return { account, hostname, isGuarded, leftOut, before: state, next, effects: [...effects, ...reminders(state)] }
  })
  const gelb = moved.flatMap(({ account, hostname, isGuarded, leftOut, next }) =>
    next._tag === "Gelb" ? [{ account, hostname, isGuarded, leftOut, slot: next.slot }] : []
  )
  const queue = gelb.flatMap(({ account, hostname, isGuarded, leftOut, slot }) =>
    slot._tag === "Queued" && !isGuarded ? [{ account, hostname, queuedAt: slot.queuedAt, leftOut }] : []
  )
  const open = gelb.flatMap(({ account, hostname, slot }) =>
    slot._tag === "Offered" ? [{ ca: slot.ca, domain: registeredDomain(hostname), account }] : []
  )
  const offers = new Map(allocate(authorities, queue, issuances, open, now).map((o) => [o.hostname, o.ca]))
  return moved.flatMap(({ before, effects, hostname, next }) => {
    const ca = offers.get(hostname)
    if (ca === undefined) return next === before && effects.length === 0 ? [] : [{ hostname, next, effects }]
    const offered = offer(next, ca, now)
    // The order about the offer includes the tier.
    const others = effects.filter(({ _tag }) => _tag !== "SetTier")
    return [{ hostname, next: offered.next, effects: [...others, ...offered.effects] }]
  })
}
