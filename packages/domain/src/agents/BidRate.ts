/**
 * Limits how many bids a caller may send in a window of time. Windows follow the clock, not the first bid: the limit is
 * coarse, and cheap to keep for many callers.
 */
import { HashMap, Option } from "effect"

/** `window` in seconds, 0 meaning one window without end; `callers`: how many are counted. */
export interface BidLimit {
  readonly bids: number
  readonly window: number
  readonly callers: number
}

interface Count {
  readonly window: number
  readonly bids: number
}

/** Callers in the order of their first bid: `oldest` and `next` are the ends of that queue. */
export interface BidRates {
  readonly counts: HashMap.HashMap<string, Count>
  readonly queue: HashMap.HashMap<number, string>
  readonly oldest: number
  readonly next: number
}

/** Sixty bids a minute, for up to a hundred thousand callers. */
export const bidLimit: BidLimit = { bids: 60, window: 60, callers: 100_000 }

/** Before the first bid. */
export const noBids: BidRates = { counts: HashMap.empty(), queue: HashMap.empty(), oldest: 0, next: 0 }

const remember = (rates: BidRates, caller: string, count: Count, limit: BidLimit): BidRates => {
  const counts = HashMap.set(rates.counts, caller, count)
  if (HashMap.has(rates.counts, caller)) return { ...rates, counts }
  const { next, oldest } = rates
  const queue = HashMap.set(rates.queue, next, caller)
  const first = HashMap.get(queue, oldest)
  if (HashMap.size(counts) <= limit.callers || Option.isNone(first)) return { counts, queue, oldest, next: next + 1 }
  return {
    counts: HashMap.remove(counts, first.value),
    queue: HashMap.remove(queue, oldest),
    oldest: oldest + 1,
    next: next + 1
  }
}

/**
 * Counts one bid of a caller at `now`. Null when the window's bids are spent; then nothing is counted. The caller that was
 * first seen the longest ago is dropped when there are too many.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { countBid, noBids } from "@catenet/domain/agents/BidRate"
 *
 * const limit = { bids: 1, window: 60, callers: 10 }
 * const once = countBid(noBids, "ada", 30, limit)
 * assert.ok(once !== null)
 * assert.equal(countBid(once, "ada", 59, limit), null)
 * assert.ok(countBid(once, "ada", 60, limit) !== null)
 * ```
 */
export const countBid = (rates: BidRates, caller: string, now: number, limit: BidLimit = bidLimit): BidRates | null => {
  const window = limit.window === 0 ? 0 : Math.floor(now / limit.window)
  const before = HashMap.get(rates.counts, caller)
  const bids = Option.isSome(before) && before.value.window === window ? before.value.bids : 0
  return bids >= limit.bids ? null : remember(rates, caller, { window, bids: bids + 1 }, limit)
}
