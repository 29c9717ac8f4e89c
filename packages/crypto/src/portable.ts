/** The suite in plain JavaScript: runs anywhere and is the oracle that the native suite is compared with. */
import { chacha20poly1305 } from "@noble/ciphers/chacha.js"
import { ed25519, x25519 } from "@noble/curves/ed25519.js"
import { blake2s } from "@noble/hashes/blake2.js"
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { ml_kem768 as mlkem768 } from "@noble/post-quantum/ml-kem.js"
import { Result } from "effect"
import * as EdwardsPoint from "./EdwardsPoint.ts"
import { AuthenticationFailed, BadEncapsulationKey, kemLengths, LowOrderPoint, type Suite } from "./Suite.ts"

/** Checked first, so that the calls below can throw only because of the peer's bytes. */
const requireLength = (bytes: Uint8Array, length: number): void => {
  if (bytes.length !== length) throw new RangeError(`${bytes.length} bytes where ${length} are needed`)
}

const sharedSecret = (secret: Uint8Array, publicKey: Uint8Array): Result.Result<Uint8Array, LowOrderPoint> => {
  requireLength(secret, 32)
  requireLength(publicKey, 32)
  try {
    return Result.succeed(x25519.getSharedSecret(secret, publicKey))
  } catch {
    return Result.fail(new LowOrderPoint())
  }
}

/**
 * Every primitive in JavaScript.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const [seed, message] = [new Uint8Array(32).fill(7), new TextEncoder().encode("hello")]
 * ok(portable.ed25519.verifyLenient(portable.ed25519.publicKey(seed), message, portable.ed25519.sign(seed, message)))
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
    verifyLenient: EdwardsPoint.verifyLenient,
    verify: (publicKey, message, signature) =>
      !EdwardsPoint.isSmallOrder(publicKey) &&
      !EdwardsPoint.isSmallOrder(signature.subarray(0, 32)) &&
      EdwardsPoint.verifyLenient(publicKey, message, signature)
  },
  x25519: {
    publicKey: (secret) => x25519.getPublicKey(secret),
    sharedSecret,
    keyPair: (secret) => {
      const own = Uint8Array.from(secret)
      return { publicKey: x25519.getPublicKey(own), sharedSecret: (publicKey) => sharedSecret(own, publicKey) }
    }
  },
  mlkem768: {
    keyPair: (seed) => {
      requireLength(seed, kemLengths.seed)
      const { publicKey, secretKey } = mlkem768.keygen(seed)
      return {
        publicKey,
        decapsulate: (ciphertext) => {
          requireLength(ciphertext, kemLengths.ciphertext)
          return mlkem768.decapsulate(ciphertext, secretKey)
        }
      }
    },
    encapsulate: (publicKey, entropy) => {
      requireLength(entropy, kemLengths.entropy)
      try {
        const { cipherText: ciphertext, sharedSecret } = mlkem768.encapsulate(publicKey, entropy)
        return Result.succeed({ ciphertext, sharedSecret })
      } catch {
        return Result.fail(new BadEncapsulationKey())
      }
    }
  },
  chacha20poly1305: {
    seal: (key, nonce, ad, plaintext, output) => chacha20poly1305(key, nonce, ad).encrypt(plaintext, output),
    open: (key, nonce, ad, ciphertext) => {
      requireLength(key, 32)
      requireLength(nonce, 12)
      try {
        return Result.succeed(chacha20poly1305(key, nonce, ad).decrypt(ciphertext))
      } catch {
        return Result.fail(new AuthenticationFailed())
      }
    }
  }
}
