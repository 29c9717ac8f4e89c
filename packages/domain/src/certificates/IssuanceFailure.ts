/** What an agent reports when an authority gave it no certificate, so that another one can be asked and the owner hears why. */
import { Schema } from "effect"
import { line } from "../values/Text.ts"

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
 * import { movesOn } from "@catenet/domain/certificates/IssuanceFailure"
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
 * import { leftOutUntil } from "@catenet/domain/certificates/IssuanceFailure"
 *
 * assert.deepEqual([undefined, 0, 7200, 604_800].map((seconds) => leftOutUntil(seconds, 1000)), [4600, 1060, 8200, 87_400])
 * ```
 */
export const leftOutUntil = (retryAfter: number | undefined, now: number): number =>
  now + Math.min(Math.max(retryAfter ?? usualPause, shortestPause), longestPause)
