/**
 * The suite over `node:crypto`, with the verdicts of the portable one.
 *
 * The only file of this package that depends on the runtime. Keys are imported from raw bytes, which is cheaper than any encoded
 * form; nothing is cached, so no secret outlives the value its owner holds.
 */
import { Result } from "effect"
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  decapsulate,
  diffieHellman,
  encapsulate,
  hash,
  sign,
  verify,
  type KeyObject
} from "node:crypto"
import * as EdwardsPoint from "./EdwardsPoint.ts"
import { AuthenticationFailed, BadEncapsulationKey, kemLengths, LowOrderPoint, tagLength, type Suite } from "./Suite.ts"

type Curve = "ed25519" | "x25519"

const cipher = "chacha20-poly1305"

/** A plain `Uint8Array`, so that both suites return equal values and callers never get a `Buffer`. */
const plain = (buffer: Buffer): Uint8Array => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)

const privateKey = (asymmetricKeyType: Curve, key: Uint8Array): KeyObject =>
  createPrivateKey({ key, format: "raw-private", asymmetricKeyType })

const publicKey = (asymmetricKeyType: Curve, key: Uint8Array): KeyObject =>
  createPublicKey({ key, format: "raw-public", asymmetricKeyType })

const rawPublicKey = (secret: KeyObject): Uint8Array => plain(createPublicKey(secret).export({ format: "raw-public" }))

const sharedSecret = (secret: KeyObject, theirs: Uint8Array): Result.Result<Uint8Array, LowOrderPoint> => {
  const key = publicKey("x25519", theirs)
  try {
    return Result.succeed(plain(diffieHellman({ privateKey: secret, publicKey: key })))
  } catch {
    return Result.fail(new LowOrderPoint())
  }
}

/** Importing it runs the modulus check. */
const encapsulationKey = (key: Uint8Array): KeyObject | undefined => {
  try {
    return createPublicKey({ key, format: "raw-public", asymmetricKeyType: "ml-kem-768" })
  } catch {
    return undefined
  }
}

const hasSmallOrder = (key: Uint8Array, signature: Uint8Array): boolean =>
  EdwardsPoint.isSmallOrder(key) || EdwardsPoint.isSmallOrder(signature.subarray(0, 32))

/** Runtimes differ on keys and commitments of small order, which the rule accepts; those are checked again by our own code. */
const verifyLenient = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
  key.length === 32 &&
  signature.length === 64 &&
  (verify(null, message, publicKey("ed25519", key), signature) ||
    (hasSmallOrder(key, signature) && EdwardsPoint.verifyLenient(key, message, signature)))

/**
 * Every primitive from the runtime.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { native } from "@catenet/crypto/native"
 *
 * const [ada, bob] = [1, 2].map((byte) => native.x25519.keyPair(new Uint8Array(32).fill(byte)))
 * deepStrictEqual(ada.sharedSecret(bob.publicKey), bob.sharedSecret(ada.publicKey))
 * ```
 */
export const native: Suite = {
  sha256: (data) => plain(hash("sha256", data, "buffer")),
  blake2s: (data) => plain(hash("blake2s256", data, "buffer")),
  hmacSha256: (key, data) => plain(createHmac("sha256", key).update(data).digest()),
  hmacBlake2s: (key, data) => plain(createHmac("blake2s256", key).update(data).digest()),
  ed25519: {
    publicKey: (seed) => rawPublicKey(privateKey("ed25519", seed)),
    sign: (seed, message) => plain(sign(null, message, privateKey("ed25519", seed))),
    isPublicKey: EdwardsPoint.isPoint,
    verify: (key, message, signature) => !hasSmallOrder(key, signature) && verifyLenient(key, message, signature),
    verifyLenient
  },
  x25519: {
    publicKey: (secret) => rawPublicKey(privateKey("x25519", secret)),
    sharedSecret: (secret, theirs) => sharedSecret(privateKey("x25519", secret), theirs),
    keyPair: (secret) => {
      const own = privateKey("x25519", secret)
      return { publicKey: rawPublicKey(own), sharedSecret: (theirs) => sharedSecret(own, theirs) }
    }
  },
  mlkem768: {
    keyPair: (seed) => {
      const own = createPrivateKey({ key: seed, format: "raw-seed", asymmetricKeyType: "ml-kem-768" })
      return { publicKey: rawPublicKey(own), decapsulate: (ciphertext) => plain(decapsulate(own, ciphertext)) }
    },
    encapsulate: (theirs, entropy) => {
      if (entropy.length !== kemLengths.entropy) throw new RangeError(`${entropy.length} bytes of entropy`)
      const key = encapsulationKey(theirs)
      if (key === undefined) return Result.fail(new BadEncapsulationKey())
      const { ciphertext, sharedKey } = encapsulate(key)
      return Result.succeed({ ciphertext: plain(ciphertext), sharedSecret: plain(sharedKey) })
    }
  },
  chacha20poly1305: {
    seal: (key, nonce, ad, plaintext, output = new Uint8Array(plaintext.length + tagLength)) => {
      const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagLength })
      sealing.setAAD(ad)
      output.set(sealing.update(plaintext))
      sealing.final()
      output.set(sealing.getAuthTag(), plaintext.length)
      return output
    },
    open: (key, nonce, ad, ciphertext) => {
      const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagLength })
      const length = ciphertext.length - tagLength
      if (length < 0) return Result.fail(new AuthenticationFailed())
      opening.setAAD(ad)
      opening.setAuthTag(ciphertext.subarray(length))
      const plaintext = opening.update(ciphertext.subarray(0, length))
      try {
        opening.final()
        return Result.succeed(plain(plaintext))
      } catch {
        return Result.fail(new AuthenticationFailed())
      }
    }
  }
}
