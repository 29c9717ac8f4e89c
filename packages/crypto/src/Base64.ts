/**
 * Padded standard base64 (release signatures, Standard Webhooks) and unpadded URL-safe base64 (tokens in links). Both readers are
 * canonical: they accept exactly the text that the writer produces.
 */
import { Data, Result } from "effect"
import * as Standard from "effect/encoding/Base64"
import * as UrlSafe from "effect/encoding/Base64Url"

/** The text is not the canonical form of any bytes. The error does not quote it, because it may be a secret. */
export class NotBase64 extends Data.TaggedError("NotBase64")<{ readonly form: "standard" | "url" }> {
  override get message() {
    return `not canonical ${this.form} base64`
  }
}

const reader =
  (form: NotBase64["form"], { decode, encode }: typeof Standard | typeof UrlSafe) =>
  (text: string): Result.Result<Uint8Array, NotBase64> => {
    const read = decode(text)
    return Result.isSuccess(read) && encode(read.success) === text
      ? Result.succeed(read.success)
      : Result.fail(new NotBase64({ form }))
  }

/**
 * Standard base64 with padding.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Base64 from "@catenet/crypto/Base64"
 *
 * strictEqual(Base64.encode(Uint8Array.of(255, 239)), "/+8=")
 * ```
 */
export const encode = (bytes: Uint8Array): string => Standard.encode(bytes)

/**
 * The bytes of padded standard base64; unused bits must be zero.
 *
 * ```ts
 * import { deepStrictEqual, ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Base64 from "@catenet/crypto/Base64"
 *
 * deepStrictEqual(Result.getOrThrow(Base64.decode("/+8=")), Uint8Array.of(255, 239))
 * for (const bad of ["/+8", "/+9=", "!!", "=", "A===", "/+8=\n"]) ok(Result.isFailure(Base64.decode(bad)))
 * ```
 */
export const decode = reader("standard", Standard)

/**
 * URL-safe base64 without padding.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Base64 from "@catenet/crypto/Base64"
 *
 * strictEqual(Base64.encodeUrl(Uint8Array.of(255, 239)), "_-8")
 * ```
 */
export const encodeUrl = (bytes: Uint8Array): string => UrlSafe.encode(bytes)

/**
 * The bytes of unpadded URL-safe base64.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Base64 from "@catenet/crypto/Base64"
 *
 * deepStrictEqual(Result.getOrThrow(Base64.decodeUrl("_-8")), Uint8Array.of(255, 239))
 * ```
 */
export const decodeUrl = reader("url", UrlSafe)
