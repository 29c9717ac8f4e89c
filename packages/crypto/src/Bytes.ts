/** Operations on byte strings: join, compare, encode text. None is constant-time; compare secrets with `ConstantTime.equal`. */
import { Data, Result } from "effect"

/** Bytes that are not UTF-8, or text that holds half a surrogate pair and therefore has no UTF-8 form. */
export class NotUtf8 extends Data.TaggedError("NotUtf8")<{}> {
  override get message() {
    return "not UTF-8 text"
  }
}

const utf8 = new TextEncoder()
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * The parts one after the other, in a fresh array.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * deepStrictEqual(Bytes.concat(Uint8Array.of(1), Uint8Array.of(2, 3)), Uint8Array.of(1, 2, 3))
 * ```
 */
export const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/**
 * A copy of the bytes from `start` to `end`. Do not use `slice`: for a `Buffer` it shares memory, which may hold data of other
 * connections.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * deepStrictEqual(Bytes.copy(Uint8Array.of(1, 2, 3), 1), Uint8Array.of(2, 3))
 * ```
 */
export const copy = (bytes: Uint8Array, start?: number, end?: number): Uint8Array =>
  new Uint8Array(bytes.subarray(start, end))

/**
 * Unsigned bytewise order: negative, zero or positive. A prefix sorts before what extends it.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * ok(Bytes.compare(Uint8Array.of(0x7f), Uint8Array.of(0x80)) < 0)
 * ```
 */
export const compare = (a: Uint8Array, b: Uint8Array): number => {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/**
 * Equality of public bytes.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * ok(Bytes.equal(Uint8Array.of(1, 2), Uint8Array.of(1, 2)))
 * ok(!Bytes.equal(Uint8Array.of(1, 2), Uint8Array.of(1)))
 * ```
 */
export const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && compare(a, b) === 0

/**
 * The UTF-8 bytes of a text. Throws `NotUtf8` on half a surrogate pair: such a text has no bytes to sign, and a
 * replacement character in its place would make two texts share one signature.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * deepStrictEqual(Bytes.fromText("é"), Uint8Array.of(0xc3, 0xa9))
 * ```
 */
export const fromText = (text: string): Uint8Array => {
  if (!text.isWellFormed()) throw new NotUtf8()
  return utf8.encode(text)
}

/**
 * The text of UTF-8 bytes. Overlong forms, surrogates and cut sequences are refused; a byte order mark stays in the
 * text, so that encoding it again gives the same bytes.
 *
 * ```ts
 * import { ok, strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * strictEqual(Result.getOrThrow(Bytes.toText(Uint8Array.of(0xc3, 0xa9))), "é")
 * ok(Result.isFailure(Bytes.toText(Uint8Array.of(0xc3))))
 * ```
 */
export const toText = (bytes: Uint8Array): Result.Result<string, NotUtf8> => {
  try {
    return Result.succeed(strictUtf8.decode(bytes))
  } catch {
    return Result.fail(new NotUtf8())
  }
}

/**
 * Whether every part has exactly this many bytes.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * ok(!Bytes.allOf(32, new Uint8Array(32), new Uint8Array(31)))
 * ```
 */
export const allOf = (length: number, ...parts: ReadonlyArray<Uint8Array>): boolean =>
  parts.every((part) => part.length === length)

/**
 * Bytes for a secret that will be wiped. V8 keeps arrays of up to 64 bytes inside its own heap and copies them out of it when native code
 * reads them; what stays behind is out of reach. These are outside from the start.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 *
 * strictEqual(Bytes.forSecret(32).length, 32)
 * ```
 */
export const forSecret = (length: number): Uint8Array => new Uint8Array(65 + length).subarray(0, length)
