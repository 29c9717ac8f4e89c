/**
 * The cryptographic primitives as one value, which every function takes as its first argument.
 *
 * Two suites implement it with the same verdicts: `portable` (pure JavaScript) and `native` (the runtime's own). No function draws
 * randomness but `encapsulate` of the native suite. A key of the wrong length is a defect and throws; bytes from a peer never throw.
 */
import { Data, type Result } from "effect"

/** A Diffie-Hellman result of all zero bytes: the peer's public key has small order, so the secret would be known. */
export class LowOrderPoint extends Data.TaggedError("LowOrderPoint") {
  override get message() {
    return "the peer's X25519 key has small order"
  }
}

/** A ciphertext that this key, nonce and associated data did not produce, or one too short to hold a tag. */
export class AuthenticationFailed extends Data.TaggedError("AuthenticationFailed") {
  override get message() {
    return "the ciphertext is not authentic"
  }
}

/** An encapsulation key that is none: of another length, or with a coefficient that is not reduced (FIPS 203 section 7.2). */
export class BadEncapsulationKey extends Data.TaggedError("BadEncapsulationKey") {
  override get message() {
    return "the peer's ML-KEM-768 key is malformed"
  }
}

/** An X25519 key pair ready for use, so that one secret is imported once for several agreements. */
export interface KeyPair {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** The 32 bytes shared with the owner of `publicKey` (RFC 7748; non-canonical encodings are reduced). */
  readonly sharedSecret: (publicKey: Uint8Array) => Result.Result<Uint8Array, LowOrderPoint>
}

/** Ed25519 (RFC 8032, pure): 32-byte seeds and public keys, 64-byte signatures. */
export interface Ed25519 {
  readonly publicKey: (seed: Uint8Array) => Uint8Array
  readonly sign: (seed: Uint8Array, message: Uint8Array) => Uint8Array
  /** Whether bytes of any length are a public key that either rule can read: `BadKey` against `BadSignature`. */
  readonly isPublicKey: (bytes: Uint8Array) => boolean
  /**
   * `verifyLenient`, and neither the public key nor R has small order: the rule of the release manifest, and of what a stranger
   * proves to a server (agents at an edge, enrollment, bootstrap, heartbeats). It refuses before any arithmetic on the curve.
   */
  readonly verify: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean
  /**
   * The rule of every other record, which the contract sets: cofactorless equation over the bytes as sent, S below the group
   * order, public keys of small order and in non-canonical form accepted. Input of another length is invalid.
   */
  readonly verifyLenient: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean
}

/** X25519 (RFC 7748): 32-byte secrets and public keys; an all-zero result is refused. */
export interface X25519 {
  readonly publicKey: (secret: Uint8Array) => Uint8Array
  readonly sharedSecret: (secret: Uint8Array, publicKey: Uint8Array) => Result.Result<Uint8Array, LowOrderPoint>
  readonly keyPair: (secret: Uint8Array) => KeyPair
}

/** An ML-KEM-768 key pair, ready to decapsulate. */
export interface KemKeyPair {
  /** The encapsulation key: 1,184 bytes. */
  readonly publicKey: Uint8Array
  /**
   * The 32 bytes that the sender of the 1,088 bytes of ciphertext has. A ciphertext that was not made for this key gives other bytes
   * and no error (implicit rejection, FIPS 203 section 6.3).
   */
  readonly decapsulate: (ciphertext: Uint8Array) => Uint8Array
}

export interface Encapsulation {
  /** 1,088 bytes. */
  readonly ciphertext: Uint8Array
  /** 32 bytes. */
  readonly sharedSecret: Uint8Array
}

/** ML-KEM-768 (FIPS 203). */
export interface MlKem768 {
  /** From 64 bytes: d, then z. */
  readonly keyPair: (seed: Uint8Array) => KemKeyPair
  /**
   * A fresh secret for the owner of the key. `entropy`, 32 bytes, is m of FIPS 203. The native suite does not read it: no interface of
   * the runtime takes m, so it draws its own.
   */
  readonly encapsulate: (
    publicKey: Uint8Array,
    entropy: Uint8Array
  ) => Result.Result<Encapsulation, BadEncapsulationKey>
}

/** Bytes of ML-KEM-768. */
export const kemLengths = { publicKey: 1184, ciphertext: 1088, seed: 64, entropy: 32 } as const

/** ChaCha20-Poly1305 (RFC 8439): 32-byte key, 12-byte nonce, the 16-byte tag behind the ciphertext. */
export interface ChaCha20Poly1305 {
  /** `output`, if given, is `plaintext.length + 16` bytes that receive the ciphertext and are returned. */
  readonly seal: (
    key: Uint8Array,
    nonce: Uint8Array,
    ad: Uint8Array,
    plaintext: Uint8Array,
    output?: Uint8Array
  ) => Uint8Array
  readonly open: (
    key: Uint8Array,
    nonce: Uint8Array,
    ad: Uint8Array,
    ciphertext: Uint8Array
  ) => Result.Result<Uint8Array, AuthenticationFailed>
}

/** The whole set. Both hashes give 32 bytes. */
export interface Suite {
  readonly sha256: (data: Uint8Array) => Uint8Array
  readonly blake2s: (data: Uint8Array) => Uint8Array
  readonly hmacSha256: (key: Uint8Array, data: Uint8Array) => Uint8Array
  readonly hmacBlake2s: (key: Uint8Array, data: Uint8Array) => Uint8Array
  readonly ed25519: Ed25519
  readonly x25519: X25519
  readonly mlkem768: MlKem768
  readonly chacha20poly1305: ChaCha20Poly1305
}

/** Bytes of an authentication tag. */
export const tagLength = 16
