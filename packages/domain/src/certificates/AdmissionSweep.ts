/**
 * One tick of certificate admission over all hostnames: admit the authorized ones, remind the edge of what it has not
 * confirmed, end offers that were not taken, queue the lapsed again, and offer what the budgets allow, in this order.
 */
import { Result } from "effect"
import { type Admission, type AdmissionEffect, type AdmissionEvent, transition } from "./AdmissionMachine.ts"
import { type CertificateAuthority } from "./CertificateAuthorities.ts"
import { allocate, type Issuance, registeredDomain } from "./CertificateBudget.ts"

/** `authorized`: the ownership registry knows the hostname under a tunnel that is not deleted. */
export interface Candidate {
  readonly hostname: string
  readonly authorized: boolean
  readonly state: Admission
}

/** What the sweep decided about one hostname: a new state, effects, or both. */
export interface Swept {
  readonly hostname: string
  readonly next: Admission
  readonly effects: ReadonlyArray<AdmissionEffect>
}

const onItsOwn = (state: Admission, authorized: boolean): AdmissionEvent =>
  state._tag === "Rot" && authorized ? { _tag: "Authorized" } : { _tag: "TimePassed" }

/** The sweep asks only for what the state allows; a refusal leaves the hostname as it is. */
const move = (state: Admission, event: AdmissionEvent, now: number) =>
  Result.getOrElse(transition(state, event, now), () => ({ next: state, effects: [] }))

/** The edge is told again about passthrough until it has confirmed it. */
const reminders = (state: Admission): ReadonlyArray<AdmissionEffect> =>
  state._tag === "Gruen" && state.pendingRevert ? [{ _tag: "SetTier", tier: "passthrough" }] : []

/**
 * Sweeps. Hostnames about which nothing is to be done are left out of the answer.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { sweep } from "@catenet/domain/certificates/AdmissionSweep"
 * import { certificateAuthorities } from "@catenet/domain/certificates/CertificateAuthorities"
 *
 * const [swept] = sweep([{ hostname: "a.example.net", authorized: true, state: { _tag: "Rot" } }], [], certificateAuthorities, 100)
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
  const moved = candidates.map(({ authorized, hostname, state }) => {
    const { effects, next } = move(state, onItsOwn(state, authorized), now)
    return { hostname, before: state, next, effects: [...effects, ...reminders(state)] }
  })
  const gelb = moved.flatMap(({ hostname, next }) => (next._tag === "Gelb" ? [{ hostname, claim: next.claim }] : []))
  const queue = gelb.flatMap(({ claim, hostname }) =>
    claim._tag === "Queued" ? [{ hostname, queuedAt: claim.queuedAt }] : []
  )
  const open = gelb.flatMap(({ claim, hostname }) =>
    claim._tag === "Offered" ? [{ ca: claim.ca, domain: registeredDomain(hostname) }] : []
  )
  const offers = new Map(allocate(authorities, queue, issuances, open, now).map((o) => [o.hostname, o.ca]))
  return moved.flatMap(({ before, effects, hostname, next }) => {
    const ca = offers.get(hostname)
    if (ca === undefined) return next === before && effects.length === 0 ? [] : [{ hostname, next, effects }]
    const offered = move(next, { _tag: "Offer", ca }, now)
    // What the edge is told of the offer includes the tier.
    const others = effects.filter(({ _tag }) => _tag !== "SetTier")
    return [{ hostname, next: offered.next, effects: [...others, ...offered.effects] }]
  })
}
