/**
 * Who owns a channel, and which key signs its grants. Changing the key ends every grant that the old one signed, and so
 * needs a confirmation; the channel and its members stay.
 */
import { Result } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import type { OperatorKey } from "../values/Keys.ts"
import { step, type Step } from "../values/Step.ts"
import type { Subject } from "../values/Subject.ts"
import type { ChannelId, ChannelRegistration } from "./Channel.ts"
import { NotChannelOwner, OperatorMismatch } from "./ChannelErrors.ts"

/** A registered channel as it is stored. Where one may be absent, null stands for a channel that is not registered. */
export interface StoredChannel {
  readonly owner: Subject
  readonly operatorPubkey: OperatorKey
}

/**
 * The audit entry of a channel that is registered for the first time.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { registered } from "@catenet/domain/channels/ChannelOperator"
 *
 * assert.equal(registered("ada", { channel: "c", operator_pubkey: "k" }).action, "channel_registered")
 * ```
 */
export const registered = (
  subject: Subject,
  { channel, operator_pubkey }: Pick<ChannelRegistration, "channel" | "operator_pubkey">
): Audit => audit("channel_registered", subject, channel, operator_pubkey)

/**
 * Registers a channel, repeats its registration, or changes its operator key. The state stays the same object where nothing
 * changes.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { register } from "@catenet/domain/channels/ChannelOperator"
 *
 * const channel = "0".repeat(64)
 * const [k1, k2] = ["1".repeat(64), "2".repeat(64)]
 * const stored = { owner: "ada", operatorPubkey: k1 }
 * assert.ok(Result.isFailure(register(stored, "ada", { channel, operator_pubkey: k2 })))
 * const { effects, next } = Result.getOrThrow(register(stored, "ada", { channel, operator_pubkey: k2, confirm_rekey: true }))
 * assert.deepEqual(next, { owner: "ada", operatorPubkey: k2 })
 * assert.deepEqual(effects.map(({ action }) => action), ["channel_operator_rekeyed"])
 * ```
 */
export const register = (
  stored: StoredChannel | null,
  subject: Subject,
  request: ChannelRegistration
): Result.Result<Step<StoredChannel, Audit>, NotChannelOwner | OperatorMismatch> => {
  const { channel, confirm_rekey = false, operator_pubkey: offered } = request
  const next = { owner: subject, operatorPubkey: offered }
  if (stored === null) return step<StoredChannel, Audit>(next, registered(subject, request))
  if (stored.owner !== subject) return Result.fail(new NotChannelOwner())
  const previous = stored.operatorPubkey
  if (previous === offered) return step(stored)
  if (!confirm_rekey) return Result.fail(new OperatorMismatch({ channel, registered: previous, offered }))
  return step<StoredChannel, Audit>(next, audit("channel_operator_rekeyed", subject, channel, `${previous} ${offered}`))
}

/**
 * Ends a channel, with its members, grants, allow-list, claims and invites.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { deregister } from "@catenet/domain/channels/ChannelOperator"
 *
 * const stored = { owner: "ada", operatorPubkey: "k" }
 * assert.equal(Result.getOrThrow(deregister(stored, "ada", "c")).next, null)
 * assert.ok(Result.isFailure(deregister(stored, "bob", "c")))
 * assert.ok(Result.isFailure(deregister(null, "ada", "c")))
 * ```
 */
export const deregister = (
  stored: StoredChannel | null,
  subject: Subject,
  channel: ChannelId
): Result.Result<Step<null, Audit>, NotChannelOwner> =>
  stored?.owner === subject
    ? step<null, Audit>(null, audit("channel_deregistered", subject, channel))
    : Result.fail(new NotChannelOwner())
