/**
 * A short text at rest, sealed under a key that the store does not hold: `s1.<key id>.<base64url of nonce, ciphertext, tag>`,
 * ChaCha20-Poly1305 (RFC 8439) with the name of the place as associated data.
 *
 * The nonce is a MAC of place and text (the SIV construction, RFC 5297): it needs no randomness, and no two texts share one. Equal
 * texts look different at different places, and equal at the same place.
 */
import { Data, Result } from "effect"
import * as Base64 from "./Base64.ts"
import * as Bytes from "./Bytes.ts"
import * as Hex from "./Hex.ts"
import type { Suite } from "./Suite.ts"

/** The text is sealed with a key that is not among those given. */
export class SealKeyMissing extends Data.TaggedError("SealKeyMissing")<{ readonly keyId: string }> {
  override get message() {
    return `sealed with the key ${this.keyId}, which is not among the keys given`
  }
}

/** The text was not sealed for this place with its key, or is not a sealed text. */
export class SealBroken extends Data.TaggedError("SealBroken") {
  override get message() {
    return "the sealed text is damaged or was sealed for another place"
  }
}

/** Keys derived once from a 32-byte key. */
export interface SealKey {
  /** Public: 8 hex digits that say which key sealed a text. */
  readonly id: string
  readonly encryption: Uint8Array
  readonly nonces: Uint8Array
  readonly pseudonyms: Uint8Array
}

const version = "s1"
const nonceLength = 12
const shape = /^s1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/u

const derive = (suite: Suite, key: Uint8Array, purpose: string) =>
  suite.hmacSha256(key, Bytes.fromText(`catenet seal v1 ${purpose}`))

/**
 * The derived keys of 32 secret bytes.
 *
 * ```ts
 * import { notDeepStrictEqual } from "node:assert"
 * import { native } from "@catenet/crypto/native"
 * import * as SealedText from "@catenet/crypto/SealedText"
 *
 * const { encryption, nonces } = SealedText.keyOf(native, new Uint8Array(32).fill(7))
 * notDeepStrictEqual(encryption, nonces)
 * ```
 */
export const keyOf = (suite: Suite, key: Uint8Array): SealKey => ({
  id: Hex.encode(derive(suite, key, "id").subarray(0, 4)),
  encryption: derive(suite, key, "encryption"),
  nonces: derive(suite, key, "nonces"),
  pseudonyms: derive(suite, key, "pseudonyms")
})

/**
 * Prefix of every text that is sealed with this key.
 *
 * ```ts
 * import { match } from "node:assert"
 * import { native } from "@catenet/crypto/native"
 * import * as SealedText from "@catenet/crypto/SealedText"
 *
 * match(SealedText.prefixOf(SealedText.keyOf(native, new Uint8Array(32))), /^s1\.[0-9a-f]{8}\.$/u)
 * ```
 */
export const prefixOf = ({ id }: SealKey): string => `${version}.${id}.`

/**
 * The key id of a sealed text; undefined where the text is not of this form.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as SealedText from "@catenet/crypto/SealedText"
 *
 * strictEqual(SealedText.keyIdOf("s1.0123abcd.AAAA"), "0123abcd")
 * strictEqual(SealedText.keyIdOf("hello"), undefined)
 * ```
 */
export const keyIdOf = (text: string): string | undefined => shape.exec(text)?.[1]

/**
 * Seals a text for a place, such as `alerts.secret`. Throws `NotUtf8` on half a surrogate pair.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { native } from "@catenet/crypto/native"
 * import * as SealedText from "@catenet/crypto/SealedText"
 *
 * const key = SealedText.keyOf(native, new Uint8Array(32).fill(7))
 * const sealed = SealedText.seal(native, key, "alerts.secret", "hello")
 * strictEqual(SealedText.keyIdOf(sealed), key.id)
 * ```
 */
export const seal = (suite: Suite, key: SealKey, place: string, text: string): string => {
  const context = Bytes.fromText(place)
  const plain = Bytes.fromText(text)
  const nonce = suite
    .hmacSha256(key.nonces, Bytes.concat(Uint8Array.of(context.length), context, plain))
    .subarray(0, nonceLength)
  const sealed = suite.chacha20poly1305.seal(key.encryption, nonce, context, plain)
  return `${prefixOf(key)}${Base64.encodeUrl(Bytes.concat(nonce, sealed))}`
}

/**
 * 32 hex digits that identify a text at one place: the same for equal texts, and not reversible without the key.
 *
 * ```ts
 * import { notStrictEqual, strictEqual } from "node:assert"
 * import { native } from "@catenet/crypto/native"
 * import * as SealedText from "@catenet/crypto/SealedText"
 *
 * const key = SealedText.keyOf(native, new Uint8Array(32).fill(7))
 * const of = (place: string) => SealedText.pseudonym(native, key, place, "192.0.2.1")
 * strictEqual(of("requests"), of("requests"))
 * notStrictEqual(of("requests"), of("sign-ins"))
 * ```
 */
export const pseudonym = (suite: Suite, key: SealKey, place: string, text: string): string => {
  const context = Bytes.fromText(place)
  const mac = suite.hmacSha256(
    key.pseudonyms,
    Bytes.concat(Uint8Array.of(context.length), context, Bytes.fromText(text))
  )
  return Hex.encode(mac.subarray(0, 16))
}

/**
 * The text that was sealed for the place by one of the keys.
 *
 * ```ts
 * import { ok, strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { native } from "@catenet/crypto/native"
 * import * as SealedText from "@catenet/crypto/SealedText"
 *
 * const key = SealedText.keyOf(native, new Uint8Array(32).fill(7))
 * const sealed = SealedText.seal(native, key, "alerts.secret", "hello")
 * strictEqual(Result.getOrThrow(SealedText.open(native, [key], "alerts.secret", sealed)), "hello")
 * ok(Result.isFailure(SealedText.open(native, [key], "bridges.grant_hex", sealed)))
 * ok(Result.isFailure(SealedText.open(native, [], "alerts.secret", sealed)))
 * ```
 */
export const open = (
  suite: Suite,
  keys: ReadonlyArray<SealKey>,
  place: string,
  text: string
): Result.Result<string, SealKeyMissing | SealBroken> => {
  const [, keyId, body] = shape.exec(text) ?? []
  if (keyId === undefined || body === undefined) return Result.fail(new SealBroken())
  const candidates = keys.filter(({ id }) => id === keyId)
  if (candidates.length === 0) return Result.fail(new SealKeyMissing({ keyId }))
  const bytes = Base64.decodeUrl(body)
  if (Result.isFailure(bytes) || bytes.success.length < nonceLength) return Result.fail(new SealBroken())
  const nonce = bytes.success.subarray(0, nonceLength)
  const sealed = bytes.success.subarray(nonceLength)
  const context = Bytes.fromText(place)
  for (const { encryption } of candidates) {
    const opened = suite.chacha20poly1305.open(encryption, nonce, context, sealed).pipe(Result.flatMap(Bytes.toText))
    if (Result.isSuccess(opened)) return Result.succeed(opened.success)
  }
  return Result.fail(new SealBroken())
}
