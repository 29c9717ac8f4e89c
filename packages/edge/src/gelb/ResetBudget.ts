/**
 * What visitors of one address block may spend on HTTP/2 streams that they reset before the answer has ended: each one costs an
 * origin's work and its visitor nothing. An address that spends more is refused for a minute, with its whole block.
 */
import { monotonicMillis } from "@catenet/wire/transport/MonotonicClock"
import { Context, Effect, Layer } from "effect"
import { addressBlock } from "../listen/AddressBlock.ts"
import { TokenBuckets } from "../listen/TokenBuckets.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"

export const resetsPerMinute = 600
const refusedMillis = 60_000
/** More blocks than this are not refused at once; the oldest are let in again. */
const maxBlocks = 65_536

export const resetBudget = (
  perMinute: number,
  counters: Counters["Service"],
  now: () => number
): ResetBudget["Service"] => {
  const resets = new TokenBuckets(perMinute)
  const refusedUntil = new Map<string, number>()
  return {
    spend: (address) => {
      const block = addressBlock(address)
      if (resets.take(block, now())) return true
      counters.resetBudgetsExceeded += 1
      refusedUntil.delete(block)
      refusedUntil.set(block, now() + refusedMillis)
      for (const oldest of refusedUntil.keys()) {
        if (refusedUntil.size <= maxBlocks) break
        refusedUntil.delete(oldest)
      }
      return false
    },
    refuses: (address) => {
      if (refusedUntil.size === 0) return false
      const block = addressBlock(address)
      const until = refusedUntil.get(block)
      if (until === undefined) return false
      if (until <= now()) return !refusedUntil.delete(block)
      counters.resettingVisitorsRefused += 1
      return true
    }
  }
}

export class ResetBudget extends Context.Service<
  ResetBudget,
  {
    /** The visitor has reset a stream; false when that was one too many. */
    readonly spend: (address: string) => boolean
    /** Whether a new connection is turned away; it is counted. */
    readonly refuses: (address: string) => boolean
  }
>()("edge/gelb/ResetBudget") {
  static readonly make = Effect.gen(function* () {
    const { processes } = yield* Settings
    return resetBudget(Math.ceil(resetsPerMinute / processes), yield* Counters, monotonicMillis)
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer]))
}
