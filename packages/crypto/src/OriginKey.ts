/** The X25519 key by which clients know an origin (section 9.2): the form of its file, and the name it retires under. */
import { Redacted, Result } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Hex from "./Hex.ts"
import { Malformed } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/**
 * Reads a key file: exactly 32 raw bytes.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as OriginKey from "@catenet/crypto/OriginKey"
 *
 * ok(Result.isSuccess(OriginKey.fromFile(new Uint8Array(32))))
 * ok(Result.isFailure(OriginKey.fromFile(new Uint8Array(33))))
 * ```
 */
export const fromFile = (content: Uint8Array): Result.Result<Redacted.Redacted<Uint8Array>, Malformed> =>
  content.length === 32
    ? Result.succeed(Redacted.make(Bytes.copy(content)))
    : Result.fail(new Malformed({ record: "origin key file", why: `${content.length} bytes where 32 are wanted` }))

/**
 * The name under which a rotated key is kept, so that clients with an older capability still get in.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as OriginKey from "@catenet/crypto/OriginKey"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const old = Redacted.make(new Uint8Array(32).fill(1))
 * strictEqual(OriginKey.retiredName(portable, old), "retired-a4e09292.key")
 * ```
 */
export const retiredName = (suite: Suite, oldKey: Redacted.Redacted<Uint8Array>): string =>
  `retired-${Hex.encode(suite.x25519.publicKey(Redacted.value(oldKey)).subarray(0, 4))}.key`
