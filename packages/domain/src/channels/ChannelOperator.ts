/**
 * Who owns a channel, and which key signs its grants. Changing the key ends every grant that the old one signed, and so
 * needs a confirmation; the channel and its members stay.
 */
import { type Result } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import { refuse, step, type Step } from "../values/Step.ts"

export type ChannelRegistration =
  { readonly _tag: "Unregistered" } | { readonly _tag: "Registered"; readonly owner: string; readonly operator: string }

/** `channel` and `operator` are 64 hex in lower case. */
export type ChannelEvent =
  | {
      readonly _tag: "Register"
      readonly subject: string
      readonly channel: string
      readonly operator: string
      readonly confirmRekey: boolean
    }
  | { readonly _tag: "Deregister"; readonly subject: string; readonly channel: string }

/** `DropChannel` removes members, allow-list, stored grants, claim links and open invitations. */
export type ChannelEffect =
  { readonly _tag: "PutOperator"; readonly operator: string } | { readonly _tag: "DropChannel" } | Audit

/** `NotOwner` also stands for a channel that is not registered. */
export type ChannelRefusal =
  { readonly _tag: "NotOwner" } | { readonly _tag: "OperatorDiffers"; readonly registered: string }

/**
 * The machine.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { transition } from "@catenet/domain/channels/ChannelOperator"
 *
 * const registered = { _tag: "Registered", owner: "ada", operator: "k1" } as const
 * const rekey = { _tag: "Register", subject: "ada", channel: "c", operator: "k2", confirmRekey: false } as const
 * assert.ok(Result.isFailure(transition(registered, rekey)))
 * const { effects, next } = Result.getOrThrow(transition(registered, { ...rekey, confirmRekey: true }))
 * assert.deepEqual(next, { _tag: "Registered", owner: "ada", operator: "k2" })
 * assert.deepEqual(effects.map((effect) => effect._tag), ["PutOperator", "Audit"])
 * ```
 */
export const transition = (
  state: ChannelRegistration,
  event: ChannelEvent
): Result.Result<Step<ChannelRegistration, ChannelEffect>, ChannelRefusal> => {
  const { subject } = event
  if (event._tag === "Deregister") {
    if (state._tag === "Unregistered" || state.owner !== subject) return refuse({ _tag: "NotOwner" })
    return step<ChannelRegistration, ChannelEffect>({ _tag: "Unregistered" }, { _tag: "DropChannel" })
  }
  const { channel, confirmRekey, operator } = event
  const next: ChannelRegistration = { _tag: "Registered", owner: subject, operator }
  const put: ChannelEffect = { _tag: "PutOperator", operator }
  if (state._tag === "Unregistered") return step<ChannelRegistration, ChannelEffect>(next, put)
  if (state.owner !== subject) return refuse({ _tag: "NotOwner" })
  if (state.operator === operator) return step(state)
  if (!confirmRekey) return refuse({ _tag: "OperatorDiffers", registered: state.operator })
  const detail = `${state.operator} ${operator}`
  return step<ChannelRegistration, ChannelEffect>(
    next,
    put,
    audit("channel_operator_rekeyed", subject, channel, detail)
  )
}
