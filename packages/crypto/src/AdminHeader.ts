/** The admin token between control plane and edge (section 11.5): 64 hex in one header, compared in constant time. */
import { Redacted, Result } from "effect"
import * as ConstantTime from "./ConstantTime.ts"
import * as Hex from "./Hex.ts"

/** The header's name, lowercase. */
export const name = "x-ct-admin-token"

/**
 * The header's value for a token of 32 bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AdminHeader from "@catenet/crypto/AdminHeader"
 *
 * strictEqual(Redacted.value(AdminHeader.value(Redacted.make(new Uint8Array(32)))), "0".repeat(64))
 * ```
 */
export const value = (token: Redacted.Redacted<Uint8Array>): Redacted.Redacted<string> =>
  Redacted.make(Hex.encode(Redacted.value(token)))

/**
 * Whether the header contains the token. False for a missing or malformed header.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AdminHeader from "@catenet/crypto/AdminHeader"
 *
 * const token = Redacted.make(new Uint8Array(32).fill(0xab))
 * ok(AdminHeader.matches(token, "AB".repeat(32)))
 * ok(!AdminHeader.matches(token, undefined) && !AdminHeader.matches(token, "ab"))
 * ```
 */
export const matches = (token: Redacted.Redacted<Uint8Array>, presented: string | undefined): boolean => {
  const bytes = Hex.decode(presented ?? "", 32)
  return Result.isSuccess(bytes) && ConstantTime.equal(bytes.success, Redacted.value(token))
}
