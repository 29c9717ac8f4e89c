/**
 * A key and its message counter (revision 34, section 5.1). A counter never repeats and never reaches 2^64-1.
 * @internal
 */
import { Result } from "effect"
import type { AuthenticationFailed, Suite } from "../Suite.ts"
import { NonceExhausted } from "./NoiseError.ts"

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
    this.#key = seal(this.#key, this.#nonceOf(reserved), nothing, new Uint8Array(32)).slice(0, 32)
  }

  #nonceOf(counter: bigint): Uint8Array {
    this.#counter.setBigUint64(0, counter, true)
    return this.#nonce
  }
}
