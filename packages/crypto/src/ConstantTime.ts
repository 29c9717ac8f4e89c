/**
 * The one comparison for secrets: MACs, tokens, their hashes, admin headers. Its running time depends on the lengths
 * only.
 */

/**
 * Equality without an early exit. The lengths are taken to be public.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as ConstantTime from "@catenet/crypto/ConstantTime"
 *
 * ok(ConstantTime.equal(Uint8Array.of(1, 2), Uint8Array.of(1, 2)))
 * ok(!ConstantTime.equal(Uint8Array.of(1, 2), Uint8Array.of(1, 3)))
 * ```
 */
export const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}
