/**
 * Creates bearer secrets from the system's entropy, hashes them for the store, and converts them to bytes for
 * signatures.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"

/** 32 fresh random bytes as 64 hex. */
export const freshHex64: Effect.Effect<string, never, SecureRandom.SecureRandom> = Effect.map(
  SecureRandom.SecureRandom.use((random) => random.randomBytes(32)),
  Hex.encode
)

/** 16 fresh random bytes as 32 hex. */
export const freshHex32: Effect.Effect<string, never, SecureRandom.SecureRandom> = Effect.map(
  SecureRandom.SecureRandom.use((random) => random.randomBytes(16)),
  Hex.encode
)

/** The bytes of a text that its schema has already held to be hex; anything else is a defect. */
export const bytesOf = (hex: string): Uint8Array => Result.getOrThrow(Hex.decode(hex))

/** The raw bytes of a hex token. */
export const tokenBytes = (token: Redacted.Redacted<string>): Redacted.Redacted<Uint8Array> =>
  Redacted.make(bytesOf(Redacted.value(token)))

/** What is stored of a token where only equality is needed: SHA-256 of its 32 bytes, as hex. */
export const hashToken = (token: Redacted.Redacted<string>): string => TokenEncoding.hash(native, tokenBytes(token))

/** SHA-256 of a text, as hex. */
export const sha256Hex = (text: string): string => Hex.encode(native.sha256(Bytes.fromText(text)))
