/**
 * Bearer tokens (section 10): 32 random bytes, shown once as 64 hex (routing, join, bootstrap, admin) or as 43 URL-safe characters
 * (share, claim invite, session), and kept as a SHA-256 wherever only equality is needed.
 *
 * Nothing here generates tokens: the caller supplies 32 bytes of entropy from the operating system.
 */
import { Data, Redacted, Result } from "effect"
import * as Base64 from "./Base64.ts"
import * as Bytes from "./Bytes.ts"
import * as Hex from "./Hex.ts"
import type { Suite } from "./Suite.ts"

/** The text does not have the form of a token. */
export class NotAToken extends Data.TaggedError("NotAToken")<{ readonly wanted: string }> {
  override get message() {
    return `a token is ${this.wanted}`
  }
}

/**
 * The 64-hex form of a token.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
 *
 * strictEqual(Redacted.value(TokenEncoding.hexText(Redacted.make(new Uint8Array(32)))), "0".repeat(64))
 * ```
 */
export const hexText = (token: Redacted.Redacted<Uint8Array>): Redacted.Redacted<string> =>
  Redacted.make(Hex.encode(Redacted.value(token)))

/**
 * The 43-character form of a token.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
 *
 * strictEqual(Redacted.value(TokenEncoding.urlText(Redacted.make(new Uint8Array(32)))).length, 43)
 * ```
 */
export const urlText = (token: Redacted.Redacted<Uint8Array>): Redacted.Redacted<string> =>
  Redacted.make(Base64.encodeUrl(Redacted.value(token)))

/**
 * The 32 bytes of a token presented as 64 hex.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
 *
 * ok(Result.isSuccess(TokenEncoding.fromHexText("ab".repeat(32))))
 * ok(Result.isFailure(TokenEncoding.fromHexText("ab".repeat(31))))
 * ```
 */
export const fromHexText = (text: string): Result.Result<Redacted.Redacted<Uint8Array>, NotAToken> =>
  Result.mapBoth(Hex.decode(text, 32), {
    onSuccess: (bytes) => Redacted.make(bytes),
    onFailure: () => new NotAToken({ wanted: "64 hex characters" })
  })

/**
 * The stored form of a hex token, `routing_token_hash` in a receipt: lowercase hex SHA-256 of the 32 raw bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const hash = TokenEncoding.hash(portable, Redacted.make(new Uint8Array(32)))
 * strictEqual(hash, "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925")
 * ```
 */
export const hash = (suite: Suite, token: Redacted.Redacted<Uint8Array>): string =>
  Hex.encode(suite.sha256(Redacted.value(token)))

/**
 * The stored form of a token handled as text (share, claim invite, session): lowercase hex SHA-256 of its characters. Any text has
 * a hash, so a token can be looked up without being parsed.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
 * import { portable } from "@catenet/crypto/portable"
 *
 * strictEqual(TokenEncoding.hashText(portable, Redacted.make("A".repeat(43))).length, 64)
 * ```
 */
export const hashText = (suite: Suite, token: Redacted.Redacted<string>): string =>
  Hex.encode(suite.sha256(Bytes.fromText(Redacted.value(token).toWellFormed())))
