/**
 * Hex as section 0.1 wants it: written lowercase, read in either case, with nothing else allowed between. The reader
 * looks at one ASCII character at a time, so a sign, a blank or a multi-byte character is refused and never counted as
 * part of a number.
 */
import { Data, Result } from "effect"

/** The text is not hex of the wanted length. It is not quoted here: it may be a secret with one wrong character. */
export class NotHex extends Data.TaggedError("NotHex")<{ readonly wantedBytes: number | undefined }> {
  override get message() {
    return this.wantedBytes === undefined ? "not hex" : `not ${this.wantedBytes * 2} hex characters`
  }
}

const digits = "0123456789abcdef"

const valueOf = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48
  if (code >= 97 && code <= 102) return code - 87
  if (code >= 65 && code <= 70) return code - 55
  return -1
}

/**
 * Lowercase hex of the bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 *
 * strictEqual(Hex.encode(Uint8Array.of(0, 171, 255)), "00abff")
 * ```
 */
export const encode = (bytes: Uint8Array): string => {
  let text = ""
  for (const byte of bytes) text += digits.charAt(byte >>> 4) + digits.charAt(byte & 15)
  return text
}

/**
 * The bytes of a hex text, of exactly `length` bytes when it is given.
 *
 * ```ts
 * import { deepStrictEqual, ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Hex from "@catenet/crypto/Hex"
 *
 * deepStrictEqual(Result.getOrThrow(Hex.decode("00ABff")), Uint8Array.of(0, 171, 255))
 * for (const bad of ["0", "+f", "0x", " 00", "é1"]) ok(Result.isFailure(Hex.decode(bad)))
 * ok(Result.isFailure(Hex.decode("00ff", 3)))
 * ```
 */
export const decode = (text: string, length?: number): Result.Result<Uint8Array, NotHex> => {
  const size = text.length / 2
  if (length === undefined ? text.length % 2 !== 0 : size !== length) {
    return Result.fail(new NotHex({ wantedBytes: length }))
  }
  const bytes = new Uint8Array(size)
  for (let i = 0; i < size; i++) {
    const high = valueOf(text.charCodeAt(2 * i))
    const low = valueOf(text.charCodeAt(2 * i + 1))
    if (high < 0 || low < 0) return Result.fail(new NotHex({ wantedBytes: length }))
    bytes[i] = high * 16 + low
  }
  return Result.succeed(bytes)
}
