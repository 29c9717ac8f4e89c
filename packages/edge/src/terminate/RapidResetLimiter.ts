/**
 * What visitors may spend on HTTP/2 streams that they reset before an answer has begun: each one costs an origin's work and its
 * visitor nothing. The visitors of one address block at one tunnel share a budget, and the connection that exceeds it is closed.
 * Nothing else is refused: other tunnels and other connections of the address go on.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { Context, Effect, Layer } from "effect"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"

export const resetsPerMinute = 600

export const rapidResetLimit = (
  perMinute: number,
  counters: Counters["Service"],
  now: () => number
): RapidResetLimiter["Service"] => {
  const resets = new TokenBuckets(perMinute)
  return {
    spend: (token, visitor) => {
      if (resets.take(`${token} ${visitor}`, now()).allowed) return true
      counters.resetBudgetsExceeded += 1
      return false
    }
  }
}

export class RapidResetLimiter extends Context.Service<
  RapidResetLimiter,
  {
    /**
     * The visitor has reset a stream of the tunnel; false when that was one too many. `visitor` is its address block, or whatever
     * names its connection where the address is not known.
     */
    readonly spend: (token: string, visitor: string) => boolean
  }
>()("edge/terminate/RapidResetLimiter") {
  static readonly make = Effect.gen(function* () {
    const { processes } = yield* Settings
    return rapidResetLimit(Math.ceil(resetsPerMinute / processes), yield* Counters, Scheduler.monotonicMillis)
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer]))
}
