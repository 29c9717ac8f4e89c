/**
 * The progress of a host name towards its own certificate, for people who wait: its place in the queue, what its agent
 * is doing, and why an authority refused it. Admission decides what the agent may do.
 */
import { Schema } from "effect"
import { TunnelStatus } from "../tunnels/Tunnel.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"

/** What an agent reports when an authority gave it no certificate, so that another one can be asked and the owner hears why. */
export class IssuanceFailure extends Schema.Class<IssuanceFailure>("IssuanceFailure")({
  /** The authority that was asked, by the name of the admission's answer. */
  ca: line(63),
  reason: Schema.Literals(["rate-limited", "ca-unavailable", "caa", "dns", "connection", "rejected"]),
  detail: Schema.optionalKey(line(500)),
  /** Seconds after which the authority said to come again. */
  retry_after: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })))
}) {}

/** Seconds for which an authority that failed a hostname is not chosen for it again, where it did not say. */
const usualPause = 3600
const shortestPause = 60
/** Longest, whatever an agent says: a day, after which asking again costs the authority one refusal. */
const longestPause = 86_400

/**
 * Whether another authority may do better: it has a limit or a fault of its own. What is wrong with the name or its DNS would
 * be so at every other, and asking them all would spend their limits.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { movesOn } from "@catenet/domain/certificates/CertificateStanding"
 *
 * assert.ok(movesOn("rate-limited"))
 * assert.ok(!movesOn("caa"))
 * ```
 */
export const movesOn = (reason: IssuanceFailure["reason"]): boolean =>
  reason === "rate-limited" || reason === "ca-unavailable"

/**
 * Until when the authority is left out for the hostname, in unix seconds.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { leftOutUntil } from "@catenet/domain/certificates/CertificateStanding"
 *
 * assert.deepEqual([undefined, 0, 7200, 604_800].map((seconds) => leftOutUntil(seconds, 1000)), [4600, 1060, 8200, 87_400])
 * ```
 */
export const leftOutUntil = (retryAfter: number | undefined, now: number): number =>
  now + Math.min(Math.max(retryAfter ?? usualPause, shortestPause), longestPause)

/** What an agent does for a certificate. `waiting`: nothing; it leaves its turn to another agent of the tunnel. */
export const IssuanceStep = Schema.Literals([
  "waiting",
  "ordering",
  "proving",
  "waiting-for-dns",
  "waiting-for-ca",
  "installing"
])
export type IssuanceStep = typeof IssuanceStep.Type

/** Seconds after which a step that nothing followed counts no more: longer than an order may take. */
export const stepSeconds = 420

/** What an agent says of its order. `agent` is the same for all processes of an agent, and tells those of a tunnel apart. */
export class IssuanceProgress extends Schema.Class<IssuanceProgress>("IssuanceProgress")({
  step: IssuanceStep,
  agent: Schema.String.check(pattern(/^[0-9a-f]{16}$/u, "16 hex digits"))
}) {}

/** `yours`: no other agent of the tunnel is in an order. */
export class IssuanceTurn extends Schema.Class<IssuanceTurn>("IssuanceTurn")({ yours: Schema.Boolean }) {}

const Failure = Schema.Struct({
  ca: Schema.String,
  reason: IssuanceFailure.fields.reason,
  detail: Schema.NullOr(Schema.String),
  at: UnixSeconds
})

export class CertificateStanding extends Schema.Class<CertificateStanding>("CertificateStanding")({
  status: TunnelStatus,
  /** From 1 on. In the queue, among the names of the same registered domain, which share its limits; null outside the queue. */
  place: Schema.NullOr(Count),
  /** Why the name gets no offer: its owner wants none, or the edge holds some of its visitors back. */
  held_back: Schema.NullOr(Schema.Literals(["declined", "guarded"])),
  claim_deadline: Schema.NullOr(UnixSeconds),
  /** When a name that let its offer lapse joins the queue again. */
  queues_again_at: Schema.NullOr(UnixSeconds),
  step: Schema.NullOr(IssuanceStep),
  step_since: Schema.NullOr(UnixSeconds),
  /** The last one since the last certificate. */
  failure: Schema.NullOr(Failure)
}) {}
