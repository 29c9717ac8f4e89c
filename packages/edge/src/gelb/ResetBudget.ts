/**
 * What visitors of one address block may spend on HTTP/2 streams that they reset before the answer has ended: each one costs an
 * origin's work and its visitor nothing. Whoever spends more is refused for a minute, with everybody in the block.
 */
import { monotonicMillis } from "@catenet/wire/transport/MonotonicClock"
import { Context, Effect, Layer } from "effect"
import { addressBlock } from "../listen/AddressBlock.ts"
import { TokenBuckets } from "../listen/TokenBuckets.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"

export const RESETS_PER_MINUTE = 600
const REFUSED_MILLIS = 60_000
/** More blocks than this are not refused at once; the oldest are let in again. */
const MAX_BLOCKS = 65_536

export interface ResetBudgetShape {
  /** The visitor has reset a stream; false when that was one too many. */
  readonly spend: (address: string) => boolean
  /** Whether a new connection is turned away; it is counted. */
  readonly refuses: (address: string) => boolean
}

export const make = (perMinute: number, counters: Counters["Service"], now: () => number): ResetBudgetShape => {
  const resets = new TokenBuckets(perMinute)
  const refusedUntil = new Map<string, number>()
  return {
    spend: (address) => {
      const block = addressBlock(address)
      if (resets.take(block, now())) return true
      counters.resetBudgetsExceeded += 1
      refusedUntil.delete(block)
      refusedUntil.set(block, now() + REFUSED_MILLIS)
      for (const oldest of refusedUntil.keys()) {
        if (refusedUntil.size <= MAX_BLOCKS) break
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

export class ResetBudget extends Context.Service<ResetBudget, ResetBudgetShape>()("edge/gelb/ResetBudget") {
  static readonly layer = Layer.effect(
    ResetBudget,
    Effect.gen(function* () {
      const { processes } = yield* Settings
      return make(Math.ceil(RESETS_PER_MINUTE / processes), yield* Counters, monotonicMillis)
    })
  )
}
