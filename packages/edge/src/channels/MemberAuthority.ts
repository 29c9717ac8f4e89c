/**
 * Asks the control plane whether a holder is a member of a channel. A no is cached for five seconds. A yes is not cached, but the
 * last one stays valid for thirty seconds if the control plane is unreachable.
 */
import * as Hex from "@catenet/crypto/Hex"
import type { ChannelAuthorisation } from "@catenet/domain/api/EdgesApi"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { HolderKey } from "@catenet/domain/values/Keys"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import type { MemberAnswer, MemberAuthorization } from "@catenet/wire/channels/BrokerAdmission"
import { Clock, Context, Effect, Layer, Result } from "effect"
import { ControlPlane, statusOf } from "../control/ControlPlane.ts"

const yesMillis = 30_000
const noMillis = 5_000
const maxRemembered = 16_384

/** An answer and when it was given (epoch milliseconds). */
export interface Asked {
  readonly answer: MemberAnswer
  readonly at: number
}

/** Whether an answer is younger than that. An answer from the future has an unknown age: the wall clock was set back. */
const isWithin = ({ at }: Asked, now: number, millis: number) => now >= at && now - at < millis

const bytes = (hex: string) => Result.getOrThrow(Hex.decode(hex, hex.length / 2))

const authorizationOf = (answer: ChannelAuthorisation): MemberAuthorization => ({
  operatorKey: bytes(answer.operator_pubkey),
  noise:
    answer.noise_pubkey === undefined || answer.noise_attestation === undefined
      ? undefined
      : { key: bytes(answer.noise_pubkey), attestation: bytes(answer.noise_attestation) }
})

export class MemberAuthority extends Context.Service<
  MemberAuthority,
  {
    /** False if no control plane is configured: then no member is admitted. */
    readonly canAsk: boolean
    readonly ask: (channel: string, holder: string) => Effect.Effect<Asked>
    /** Drops the cached answers about a channel whose members have changed. */
    readonly forget: (channel: string) => void
  }
>()("edge/channels/MemberAuthority") {
  static readonly make = Effect.gen(function* () {
    const { client } = yield* ControlPlane
    const remembered = new BoundedMap<string, Asked>(maxRemembered)
    /** Calls under way. `isOutdated`: the members have changed since, so that the answer may be of before. */
    const calls = new Set<{ readonly key: string; isOutdated: boolean }>()
    const lastYes = (key: string, now: number): Asked => {
      const last = remembered.get(key)
      const holds = last !== undefined && last.answer !== "no" && isWithin(last, now, yesMillis)
      return holds ? last : { answer: "unknown", at: now }
    }

    const ask = Effect.fn("MemberAuthority.ask")(function* (channel: string, holder: string) {
      const key = `${channel} ${holder}`
      const before = yield* Clock.currentTimeMillis
      const last = remembered.get(key)
      if (client === undefined) return { answer: "unknown" as const, at: before }
      if (last?.answer === "no" && isWithin(last, before, noMillis)) return last
      const payload = { channel: ChannelId.make(channel), holder: HolderKey.make(holder) }
      const call = { key, isOutdated: false }
      calls.add(call)
      const answer: MemberAnswer = yield* client.authorizeChannel({ payload }).pipe(
        Effect.map(authorizationOf),
        Effect.catch((error) => (statusOf(error) === 404 ? Effect.succeed("no" as const) : Effect.fail(error))),
        Effect.tapCause((cause) => Effect.logWarning("the control plane does not say who is a member", cause)),
        Effect.catchCause(() => Effect.succeed("unknown" as const)),
        Effect.ensuring(Effect.sync(() => calls.delete(call)))
      )
      if (answer === "unknown") return lastYes(key, before)
      // The time of the request: the answer may not include later changes.
      const asked = { answer, at: before }
      if (!call.isOutdated) remembered.set(key, asked)
      return asked
    })

    return MemberAuthority.of({
      canAsk: client !== undefined,
      ask,
      forget: (channel) => {
        for (const key of remembered.keys()) if (key.startsWith(channel)) remembered.delete(key)
        for (const call of calls) if (call.key.startsWith(channel)) call.isOutdated = true
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make)
}
