/** The suite in plain JavaScript: runs anywhere and is the oracle that the native suite is compared with. */
import { chacha20poly1305 } from "@noble/ciphers/chacha.js"
import { ed25519, x25519 } from "@noble/curves/ed25519.js"
import { blake2s } from "@noble/hashes/blake2.js"
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { Result } from "effect"
import * as EdwardsPoint from "./EdwardsPoint.ts"
import { AuthenticationFailed, LowOrderPoint, tagLength, type Suite } from "./Suite.ts"

const sharedSecret = (secret: Uint8Array, publicKey: Uint8Array): Result.Result<Uint8Array, LowOrderPoint> => {
  try {
    return Result.succeed(x25519.getSharedSecret(secret, publicKey))
  } catch (defect) {
    if (secret.length === 32 && publicKey.length === 32) return Result.fail(new LowOrderPoint())
    throw defect
  }
}

/**
 * Every primitive in JavaScript.
 *
 * ```ts
 * const seed = new Uint8Array(32).fill(7)
 * const signature = portable.ed25519.sign(seed, new TextEncoder().encode("hello"))
 * assert.isTrue(portable.ed25519.verify(portable.ed25519.publicKey(seed), new TextEncoder().encode("hello"), signature))
 * ```
 */
export const portable: Suite = {
  sha256,
  blake2s: (data) => blake2s(data),
  hmacSha256: (key, data) => hmac(sha256, key, data),
  hmacBlake2s: (key, data) => hmac(blake2s, key, data),
  ed25519: {
    publicKey: (seed) => ed25519.getPublicKey(seed),
    sign: (seed, message) => ed25519.sign(message, seed),
    isPublicKey: EdwardsPoint.isPoint,
    verify: EdwardsPoint.verify,
    verifyStrict: (publicKey, message, signature) =>
      !EdwardsPoint.isSmallOrder(publicKey) &&
      !EdwardsPoint.isSmallOrder(signature.subarray(0, 32)) &&
      EdwardsPoint.verify(publicKey, message, signature)
  },
  x25519: {
    publicKey: (secret) => x25519.getPublicKey(secret),
    sharedSecret,
    keyPair: (secret) => {
      const own = Uint8Array.from(secret)
      return { publicKey: x25519.getPublicKey(own), sharedSecret: (publicKey) => sharedSecret(own, publicKey) }
    }
  },
  chacha20poly1305: {
    seal: (key, nonce, ad, plaintext, output) => chacha20poly1305(key, nonce, ad).encrypt(plaintext, output),
    open: (key, nonce, ad, ciphertext) => {
      const cipher = chacha20poly1305(key, nonce, ad)
      if (ciphertext.length < tagLength) return Result.fail(new AuthenticationFailed())
      try {
        return Result.succeed(cipher.decrypt(ciphertext))
      } catch {
        return Result.fail(new AuthenticationFailed())
      }
    }
  }
}
