/**
 * The running hash and chaining key of a handshake (revision 34, section 5.2).
 * @internal
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import { tagLength, type AuthenticationFailed, type Suite } from "../Suite.ts"
import { NonceExhausted } from "./NoiseError.ts"

// * A key and its message counter (revision 34, section 5.1). A counter never repeats and never reaches 2^64-1.
// @internal

/** The nonce that no message carries, kept for `rekey`. */
const reserved = 0xffff_ffff_ffff_ffffn

const nothing = new Uint8Array(0)

export class CipherState {
  readonly #suite: Suite
  readonly #nonce = new Uint8Array(12)
  readonly #counter = new DataView(this.#nonce.buffer, 4)
  #key: Uint8Array
  #next: bigint

  constructor(suite: Suite, key: Uint8Array, next = 0n) {
    this.#suite = suite
    this.#key = key
    this.#next = next
  }

  /** Ciphertext and tag; into `output` if given. */
  encrypt(ad: Uint8Array, plaintext: Uint8Array, output?: Uint8Array): Result.Result<Uint8Array, NonceExhausted> {
    if (this.#next === reserved) return Result.fail(new NonceExhausted())
    const nonce = this.#nonceOf(this.#next++)
    return Result.succeed(this.#suite.chacha20poly1305.seal(this.#key, nonce, ad, plaintext, output))
  }

  /** The plaintext. A forged message changes nothing: the next one is read with the same nonce. */
  decrypt(ad: Uint8Array, message: Uint8Array): Result.Result<Uint8Array, AuthenticationFailed | NonceExhausted> {
    if (this.#next === reserved) return Result.fail(new NonceExhausted())
    const plaintext = this.#suite.chacha20poly1305.open(this.#key, this.#nonceOf(this.#next), ad, message)
    if (Result.isSuccess(plaintext)) this.#next++
    return plaintext
  }

  /** Replaces the key by a one-way function of it; the counter goes on. Both sides must do it at the same message. */
  rekey(): void {
    const { seal } = this.#suite.chacha20poly1305
    const output = Bytes.forSecret(32 + tagLength)
    seal(this.#key, this.#nonceOf(reserved), nothing, new Uint8Array(32), output)
    this.wipe()
    this.#key = output.subarray(0, 32)
  }

  /** Overwrites the key. It must not be used afterwards. */
  wipe(): void {
    this.#key.fill(0)
  }

  #nonceOf(counter: bigint): Uint8Array {
    this.#counter.setBigUint64(0, counter, true)
    return this.#nonce
  }
}

export type HashName = "BLAKE2s" | "SHA256"

const hashLength = 32

const concat = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}

export class SymmetricState {
  readonly #suite: Suite
  readonly #digest: (data: Uint8Array) => Uint8Array
  readonly #mac: (key: Uint8Array, data: Uint8Array) => Uint8Array
  #hash: Uint8Array
  #chainingKey: Uint8Array
  #cipher: CipherState | undefined

  /** `protocol` is the whole name. One that fits into a hash stands for itself, a longer one is hashed. */
  constructor(suite: Suite, hash: HashName, protocol: string) {
    this.#suite = suite
    this.#digest = hash === "BLAKE2s" ? suite.blake2s : suite.sha256
    this.#mac = hash === "BLAKE2s" ? suite.hmacBlake2s : suite.hmacSha256
    const name = new TextEncoder().encode(protocol)
    this.#hash = name.length > hashLength ? this.#digest(name) : concat(name, new Uint8Array(hashLength - name.length))
    this.#chainingKey = Bytes.copy(this.#hash)
  }

  /** The handshake hash so far: after the last message a value unique to this session, for channel binding. */
  get hash(): Uint8Array {
    return this.#hash
  }

  /** Whether what follows is encrypted. */
  get keyed(): boolean {
    return this.#cipher !== undefined
  }

  mixHash(data: Uint8Array): void {
    this.#hash = this.#digest(concat(this.#hash, data))
  }

  mixKey(secret: Uint8Array): void {
    const [chainingKey, key] = this.#derive(secret)
    this.wipe()
    this.#chainingKey = chainingKey
    this.#cipher = new CipherState(this.#suite, key)
  }

  encryptAndHash(plaintext: Uint8Array): Result.Result<Uint8Array, NonceExhausted> {
    const ciphertext = this.#cipher?.encrypt(this.#hash, plaintext) ?? Result.succeed(plaintext)
    if (Result.isSuccess(ciphertext)) this.mixHash(ciphertext.success)
    return ciphertext
  }

  /** The plaintext in bytes of its own, also where nothing is encrypted yet. */
  decryptAndHash(ciphertext: Uint8Array): Result.Result<Uint8Array, AuthenticationFailed | NonceExhausted> {
    const plaintext = this.#cipher?.decrypt(this.#hash, ciphertext) ?? Result.succeed(Bytes.copy(ciphertext))
    if (Result.isSuccess(plaintext)) this.mixHash(ciphertext)
    return plaintext
  }

  /** The ciphers of the initiator's and of the responder's messages. */
  split(): readonly [CipherState, CipherState] {
    const [initiator, responder] = this.#derive(nothing)
    return [new CipherState(this.#suite, initiator), new CipherState(this.#suite, responder)]
  }

  /** Overwrites the chaining key and the cipher key of the handshake; the hash is no secret. */
  wipe(): void {
    this.#chainingKey.fill(0)
    this.#cipher?.wipe()
  }

  /** HKDF with two outputs. */
  #derive(secret: Uint8Array): readonly [Uint8Array, Uint8Array] {
    const key = this.#mac(this.#chainingKey, secret)
    const first = this.#mac(key, Uint8Array.of(1))
    const input = Bytes.forSecret(hashLength + 1)
    input.set(first)
    input[hashLength] = 2
    const second = this.#mac(key, input)
    for (const used of [key, input]) used.fill(0)
    return [first, second]
  }
}
