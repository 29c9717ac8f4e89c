/**
 * Who owns a channel, and which key signs its grants. Changing the key ends every grant that the old key signed and so
 * needs a confirmation; the channel and its members stay.
 *
 * Registrations without a proof are first come, first served. Channel ids are often derived from public keys, so anyone
 * can register one before its operator does; such a registration yields to the operator's proof.
 */
import { Result, Schema } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import type { Subject } from "../values/Ids.ts"
import type { OperatorKey } from "../values/Keys.ts"
import { step, type Step } from "../values/Step.ts"
import type { ChannelId, ChannelRegistration } from "./Channel.ts"
import { NotChannelOwner, OperatorMismatch } from "./ChannelErrors.ts"

/**
 * What an account has proved about the operator key of a registration. `none`: nothing. `key`: the key has signed for the
 * account. `derived`: the channel id is also derived from that key, so no other key can be the channel's operator.
 */
export const OperatorProof = Schema.Literals(["none", "key", "derived"])
export type OperatorProof = typeof OperatorProof.Type

/** A registered channel as it is stored. Where one may be absent, null stands for a channel that is not registered. */
export interface StoredChannel {
  readonly owner: Subject
  readonly operatorPubkey: OperatorKey
  readonly proof: OperatorProof
}

/**
 * Whether a registration by one account yields to one by another. A derived id has one operator; of a chosen id nothing is
 * known but the key that is registered, and the holder of that key wins over an account that only named it.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { yieldsTo } from "@catenet/domain/channels/ChannelOperator"
 *
 * const squatted = { owner: "eve", operatorPubkey: "k", proof: "none" }
 * assert.ok(yieldsTo(squatted, { owner: "ada", operatorPubkey: "k", proof: "key" }))
 * assert.ok(!yieldsTo(squatted, { owner: "ada", operatorPubkey: "other", proof: "key" }))
 * assert.ok(yieldsTo(squatted, { owner: "ada", operatorPubkey: "other", proof: "derived" }))
 * ```
 */
export const yieldsTo = (stored: StoredChannel, offered: StoredChannel): boolean =>
  offered.proof === "derived"
    ? stored.proof !== "derived"
    : offered.proof === "key" && stored.proof === "none" && stored.operatorPubkey === offered.operatorPubkey

/**
 * The audit entries of a channel that goes to another account: one in the log of each.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { takenOver } from "@catenet/domain/channels/ChannelOperator"
 *
 * const stored = { owner: "eve", operatorPubkey: "k", proof: "none" }
 * const [taken, yielded] = takenOver(stored, { owner: "ada", operatorPubkey: "k", proof: "key" }, "c")
 * assert.deepEqual([taken.actor, yielded.actor], ["ada", "eve"])
 * ```
 */
export const takenOver = (
  stored: StoredChannel,
  { operatorPubkey, owner }: StoredChannel,
  channel: ChannelId
): readonly [Audit, Audit] => [
  audit("channel_taken_over", owner, channel, operatorPubkey),
  audit("channel_yielded", stored.owner, channel, operatorPubkey)
]

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
 * Registers a channel, repeats its registration, changes its operator key, or takes it over from an account whose
 * registration yields. The state stays the same object where nothing changes.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { register } from "@catenet/domain/channels/ChannelOperator"
 *
 * const channel = "0".repeat(64)
 * const [k1, k2] = ["1".repeat(64), "2".repeat(64)]
 * const stored = { owner: "ada", operatorPubkey: k1, proof: "none" }
 * assert.ok(Result.isFailure(register(stored, "ada", { channel, operator_pubkey: k2 })))
 * const { effects, next } = Result.getOrThrow(register(stored, "ada", { channel, operator_pubkey: k2, confirm_rekey: true }))
 * assert.deepEqual(next, { owner: "ada", operatorPubkey: k2, proof: "none" })
 * assert.deepEqual(effects.map(({ action }) => action), ["channel_operator_rekeyed"])
 * ```
 */
export const register = (
  stored: StoredChannel | null,
  subject: Subject,
  request: Pick<ChannelRegistration, "channel" | "operator_pubkey" | "confirm_rekey">,
  proof: OperatorProof = "none"
): Result.Result<Step<StoredChannel, Audit>, NotChannelOwner | OperatorMismatch> => {
  const { channel, confirm_rekey = false, operator_pubkey: offered } = request
  const next = { owner: subject, operatorPubkey: offered, proof }
  if (stored === null) return step<StoredChannel, Audit>(next, registered(subject, request))
  if (stored.owner !== subject)
    return yieldsTo(stored, next)
      ? step<StoredChannel, Audit>(next, ...takenOver(stored, next, channel))
      : Result.fail(new NotChannelOwner())
  const previous = stored.operatorPubkey
  if (previous === offered) return step(weightOf(proof) > weightOf(stored.proof) ? next : stored)
  if (!confirm_rekey) return Result.fail(new OperatorMismatch({ channel, registered: previous, offered }))
  return step<StoredChannel, Audit>(next, audit("channel_operator_rekeyed", subject, channel, `${previous} ${offered}`))
}

const weightOf = (proof: OperatorProof) => OperatorProof.literals.indexOf(proof)

/**
 * Ends a channel, with its members, grants, allow-list, claims and invites.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { deregister } from "@catenet/domain/channels/ChannelOperator"
 *
 * const stored = { owner: "ada", operatorPubkey: "k", proof: "none" }
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
