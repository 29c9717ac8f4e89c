/**
 * The two base64 forms in use: padded standard (release signatures, Standard Webhooks) and unpadded URL-safe (tokens in
 * links). Both readers are canonical: they accept exactly the text the writer gives.
 */
import { Data, Result } from "effect"

/** The text is not the canonical form of any bytes. It is not quoted here: it may be a secret. */
export class NotBase64 extends Data.TaggedError("NotBase64")<{ readonly form: "standard" | "url" }> {
  override get message() {
    return `not canonical ${this.form} base64`
  }
}

const shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const alphabets = { standard: `${shared}+/`, url: `${shared}-_` }

type Form = keyof typeof alphabets

// `held` keeps bits that were used already above the others; whatever takes bits from it cuts those off.

const write = (form: Form, bytes: Uint8Array): string => {
  const alphabet = alphabets[form]
  let text = ""
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 6) {
      bits -= 6
      text += alphabet.charAt((held >>> bits) & 63)
    }
  }
  if (bits > 0) text += alphabet.charAt((held << (6 - bits)) & 63)
  return form === "standard" ? text.padEnd(Math.ceil(text.length / 4) * 4, "=") : text
}

const read = (form: Form, text: string): Result.Result<Uint8Array, NotBase64> => {
  const alphabet = alphabets[form]
  const body = form === "standard" ? text.replace(/={1,2}$/, "") : text
  const bytes = new Uint8Array(Math.floor((body.length * 3) / 4))
  let at = 0
  let bits = 0
  let held = 0
  for (const character of body) {
    const value = alphabet.indexOf(character)
    if (value < 0) return Result.fail(new NotBase64({ form }))
    held = (held << 6) | value
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = held >>> bits
    }
  }
  return write(form, bytes) === text ? Result.succeed(bytes) : Result.fail(new NotBase64({ form }))
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
export const encode = (bytes: Uint8Array): string => write("standard", bytes)

/**
 * The bytes of padded standard base64; unused bits must be zero.
 *
 * ```ts
 * import { deepStrictEqual, ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Base64 from "@catenet/crypto/Base64"
 *
 * deepStrictEqual(Result.getOrThrow(Base64.decode("/+8=")), Uint8Array.of(255, 239))
 * for (const bad of ["/+8", "/+9=", "!!", "=", "A==="]) ok(Result.isFailure(Base64.decode(bad)))
 * ```
 */
export const decode = (text: string): Result.Result<Uint8Array, NotBase64> => read("standard", text)

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
export const encodeUrl = (bytes: Uint8Array): string => write("url", bytes)

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
export const decodeUrl = (text: string): Result.Result<Uint8Array, NotBase64> => read("url", text)
