/** How often an account's alerts may call out, and when a failed call is tried again. */

/** Deliveries of one account, over all its alerts, in any hour. */
export const deliveryBudget = 20

const budgetSeconds = 3600

/**
 * Deliveries an account has left. `deliveredAt`: unix seconds of its deliveries that succeeded or failed; one delivery with
 * several attempts counts once, a skipped one not at all.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { deliveriesLeft } from "@catenet/domain/tunnels/AlertDelivery"
 *
 * assert.equal(deliveriesLeft([], 5000), 20)
 * assert.equal(deliveriesLeft([1400, 1401], 5000), 19)
 * ```
 */
export const deliveriesLeft = (deliveredAt: ReadonlyArray<number>, now: number): number =>
  Math.max(0, deliveryBudget - deliveredAt.filter((at) => now - at < budgetSeconds).length)

/** Seconds to wait before the second and the third attempt. */
export const retryPauses: ReadonlyArray<number> = [2, 8]

/** What follows an attempt. */
export type AfterAttempt =
  { readonly _tag: "Delivered" } | { readonly _tag: "RetryIn"; readonly seconds: number } | { readonly _tag: "Failed" }

/**
 * What follows attempt number `attempt` (from 1), given the receiver's status, or null when it could not be reached. Any
 * 2xx is a success. A test message is tried once, without pauses.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { afterAttempt } from "@catenet/domain/tunnels/AlertDelivery"
 *
 * assert.deepEqual(afterAttempt(1, 204), { _tag: "Delivered" })
 * assert.deepEqual(afterAttempt(1, null), { _tag: "RetryIn", seconds: 2 })
 * assert.deepEqual(afterAttempt(3, 500), { _tag: "Failed" })
 * assert.deepEqual(afterAttempt(1, 500, []), { _tag: "Failed" })
 * ```
 */
export const afterAttempt = (
  attempt: number,
  status: number | null,
  pauses: ReadonlyArray<number> = retryPauses
): AfterAttempt => {
  if (status !== null && status >= 200 && status <= 299) return { _tag: "Delivered" }
  const seconds = pauses[attempt - 1]
  return seconds === undefined ? { _tag: "Failed" } : { _tag: "RetryIn", seconds }
}
