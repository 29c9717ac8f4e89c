/** The state machine of a tunnel's access window: set, re-arm, clear. A refusal changes nothing. */
import { Result } from "effect"
import { AccessPolicy, isZone, offsetAt, WeeklySchedule } from "../edges/AccessPolicy.ts"
import { audit, type Audit } from "../values/AuditEffect.ts"
import type { Subject, TunnelId } from "../values/Ids.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { type Step } from "../values/Step.ts"
import { AccessRefused } from "./TunnelErrors.ts"

/** `PushPolicy` is an order to the edges; null means unrestricted. */
export type AccessEffect = { readonly _tag: "PushPolicy"; readonly policy: AccessPolicy | null } | Audit

/** Seconds for which re-arming opens a tunnel: 24 hours. */
export const rearmSeconds = 86_400

/** The tunnel, and the account that changes its window. */
export interface WindowOwner {
  readonly id: TunnelId
  readonly subject: Subject
}

type Change = Step<AccessPolicy | null, AccessEffect>

/**
 * Lifts every restriction.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Schema } from "effect"
 * import { clear } from "@catenet/domain/tunnels/AccessWindow"
 * import { TunnelId } from "@catenet/domain/values/Ids"
 * import { Subject } from "@catenet/domain/values/Ids"
 *
 * const tunnel = { id: Schema.decodeSync(TunnelId)("0".repeat(32)), subject: Subject.make("ada") }
 * assert.deepEqual(clear(tunnel).effects.map((effect) => effect._tag), ["PushPolicy", "Audit"])
 * ```
 */
export const clear = ({ id, subject }: WindowOwner): Change => ({
  next: null,
  effects: [{ _tag: "PushPolicy", policy: null }, audit("tunnel_access_policy_cleared", subject, id)]
})

const put = ({ id, subject }: WindowOwner, policy: AccessPolicy): Change => ({
  next: policy,
  effects: [{ _tag: "PushPolicy", policy }, audit("tunnel_access_policy_set", subject, id, JSON.stringify(policy))]
})

/**
 * Puts a whole policy in place of the one in force. A policy that restricts nothing clears the window; one that has
 * expired already, or names an unknown time zone, is refused.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result, Schema } from "effect"
 * import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
 * import { replace } from "@catenet/domain/tunnels/AccessWindow"
 * import { TunnelId } from "@catenet/domain/values/Ids"
 * import { Subject } from "@catenet/domain/values/Ids"
 *
 * const tunnel = { id: Schema.decodeSync(TunnelId)("0".repeat(32)), subject: Subject.make("ada") }
 * const policy = Schema.decodeSync(AccessPolicy)({ expires_at: 500 })
 * assert.equal(Result.getOrThrow(replace(tunnel, policy, 499)).next, policy)
 * assert.ok(Result.isFailure(replace(tunnel, policy, 500)))
 * ```
 */
export const replace = (
  tunnel: WindowOwner,
  policy: AccessPolicy,
  now: number
): Result.Result<Change, AccessRefused> => {
  const { expires_at, schedule } = policy
  if (expires_at !== null && expires_at <= now) {
    return Result.fail(new AccessRefused({ field: "expires_at", reason: "must be in the future" }))
  }
  if (expires_at === null && schedule === null) return Result.succeed(clear(tunnel))
  if (schedule?.time_zone === undefined) return Result.succeed(put(tunnel, policy))
  if (!isZone(schedule.time_zone)) {
    const reason = "must be a name of the IANA time zone database, such as Europe/Berlin"
    return Result.fail(new AccessRefused({ field: "time_zone", reason }))
  }
  // For edges and agents that do not know the member.
  const dated = new WeeklySchedule({ ...schedule, tz_offset_minutes: offsetAt(schedule, now) })
  return Result.succeed(put(tunnel, new AccessPolicy({ ...policy, schedule: dated })))
}

/**
 * Opens the tunnel for 24 hours and keeps the schedule. A policy without an expiry has nothing to move and stays.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Schema } from "effect"
 * import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
 * import { rearm } from "@catenet/domain/tunnels/AccessWindow"
 * import { TunnelId } from "@catenet/domain/values/Ids"
 * import { Subject } from "@catenet/domain/values/Ids"
 *
 * const tunnel = { id: Schema.decodeSync(TunnelId)("0".repeat(32)), subject: Subject.make("ada") }
 * const expired = Schema.decodeSync(AccessPolicy)({ expires_at: 100 })
 * assert.equal(rearm(tunnel, expired, 200).next?.expires_at, 86_600)
 * assert.deepEqual(rearm(tunnel, null, 200), { next: null, effects: [] })
 * ```
 */
export const rearm = (tunnel: WindowOwner, current: AccessPolicy | null, now: number): Change =>
  current === null || current.expires_at === null
    ? { next: current, effects: [] }
    : put(tunnel, new AccessPolicy({ ...current, expires_at: UnixSeconds.make(now + rearmSeconds) }))
