/**
 * Hex as section 0.1 defines it: written lowercase, read in either case, and refused with any other character in it: a
 * sign, a blank, a multi-byte character.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Data, Result } from "effect"

/** The text is not hex of the wanted length. The error does not quote it: it may be a secret with one wrong character. */
export class NotHex extends Data.TaggedError("NotHex")<{ readonly wantedBytes: number | undefined }> {
  override get message() {
    return this.wantedBytes === undefined ? "not hex" : `not ${this.wantedBytes * 2} hex characters`
  }
}

/**
 * Any character that is not a hex digit. Tested first, because the decoder throws, which makes a refusal three times as expensive.
 */
const foreign = /[^0-9a-fA-F]/

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
export const encode = bytesToHex

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
export const decode = (text: string, length?: number): Result.Result<Uint8Array, NotHex> =>
  text.length === 2 * (length ?? Math.floor(text.length / 2)) && !foreign.test(text)
    ? Result.succeed(hexToBytes(text))
    : Result.fail(new NotHex({ wantedBytes: length }))
