/**
 * Which signatures were seen, for records that may be presented once (section 0.5). It lives in memory and forgets a
 * signature at the record's own expiry, when the record is dead anyway. It has no clock: the caller brings the time.
 */
import * as Hex from "./Hex.ts"
import { alive } from "./SignedRecord.ts"

const sweepEvery = 5n

/**
 * Remembers signatures until their records expire.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { ReplayCache } from "@catenet/crypto/ReplayCache"
 *
 * const cache = new ReplayCache()
 * const signature = new Uint8Array(64).fill(1)
 * deepStrictEqual(
 *   [cache.fresh(signature, 100n, 10n), cache.fresh(signature, 100n, 11n), cache.fresh(signature, 100n, 100n)],
 *   [true, false, false]
 * )
 * ```
 */
export class ReplayCache {
  readonly #expiries = new Map<string, bigint>()
  #sweptAt: bigint | undefined

  /** How many signatures are held, pruned or not. */
  get size(): number {
    return this.#expiries.size
  }

  /**
   * Whether this is the first sight of a living record; if so it is remembered. A record already expired is never fresh
   * and never stored.
   */
  fresh(signature: Uint8Array, expiresAt: bigint, now: bigint): boolean {
    this.#prune(now)
    if (!alive(now, expiresAt)) return false
    const key = Hex.encode(signature)
    const seenUntil = this.#expiries.get(key)
    if (seenUntil !== undefined && alive(now, seenUntil)) return false
    this.#expiries.set(key, expiresAt)
    return true
  }

  #prune(now: bigint): void {
    if (this.#sweptAt !== undefined && now - this.#sweptAt < sweepEvery) return
    this.#sweptAt = now
    for (const [key, expiresAt] of this.#expiries) if (!alive(now, expiresAt)) this.#expiries.delete(key)
  }
}
