/**
 * A Noise session after its handshake: one cipher per direction, messages of at most 65,535 bytes.
 *
 * It has no end mark and no message types; the plaintext belongs to the caller. Messages are read in the order in which they were
 * written; a lost, repeated or forged message is refused without changing the state.
 */
import { Result } from "effect"
import { tagLength, type AuthenticationFailed } from "../Suite.ts"
import { MessageTooLong, type NonceExhausted } from "./NoiseError.ts"
import type { CipherState } from "./SymmetricState.ts"

/** Bytes of the longest message, handshake or transport. */
export const maxMessage = 65535

/** Bytes of the longest plaintext of a transport message. */
export const maxPlaintext = maxMessage - tagLength

const nothing = new Uint8Array(0)

/** Bytes of the length in front of a framed message. */
const prefix = 2

/** How many bytes a frame is longer than its plaintext. */
export const frameOverhead = prefix + tagLength

/**
 * The session. Made by `Handshake.finish`.
 *
 * ```ts
 * import { deepStrictEqual, strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { initiate, respond } from "@catenet/crypto/noise/Noise"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const session = Result.gen(function* () {
 *   const left = yield* initiate(portable, { pattern: "NN", entropy: new Uint8Array(32).fill(1) })
 *   const right = yield* respond(portable, { pattern: "NN", entropy: new Uint8Array(32).fill(2) })
 *   yield* right.readMessage(yield* left.writeMessage())
 *   yield* left.readMessage(yield* right.writeMessage())
 *   return [yield* left.finish(), yield* right.finish()]
 * })
 * const [left, right] = Result.getOrThrow(session)
 * const message = Result.getOrThrow(left.encrypt(Uint8Array.of(7)))
 * deepStrictEqual(right.decrypt(message), Result.succeed(Uint8Array.of(7)))
 * strictEqual(Result.getOrThrow(Result.flip(right.decrypt(message)))._tag, "AuthenticationFailed")
 * ```
 */
export class Transport {
  readonly #sending: CipherState
  readonly #receiving: CipherState
  /** 32 bytes, equal on both sides and unique to this session. */
  readonly handshakeHash: Uint8Array
  /** The peer's proven static key; absent where the pattern gives it none. */
  readonly remoteStatic: Uint8Array | undefined

  constructor(
    sending: CipherState,
    receiving: CipherState,
    handshakeHash: Uint8Array,
    remoteStatic: Uint8Array | undefined
  ) {
    this.#sending = sending
    this.#receiving = receiving
    this.handshakeHash = handshakeHash
    this.remoteStatic = remoteStatic
  }

  /** The message for `plaintext`: 16 bytes longer. */
  encrypt(plaintext: Uint8Array): Result.Result<Uint8Array, MessageTooLong | NonceExhausted> {
    return this.#seal(plaintext)
  }

  /**
   * The same behind its length (u16be), built in one buffer: what goes on a byte stream. `output`, if given, takes the
   * frame and must have exactly `frameOverhead` bytes more than the plaintext.
   */
  encryptFrame(plaintext: Uint8Array, output?: Uint8Array): Result.Result<Uint8Array, MessageTooLong | NonceExhausted> {
    const length = Math.min(plaintext.length, maxPlaintext) + tagLength
    // The message starts at a multiple of four, where JavaScript ciphers work on whole words.
    const frame = output ?? new Uint8Array(prefix + prefix + length).subarray(prefix)
    frame[0] = length >>> 8
    frame[1] = length
    return Result.map(this.#seal(plaintext, frame.subarray(prefix)), () => frame)
  }

  /** The plaintext of the peer's next message. */
  decrypt(message: Uint8Array): Result.Result<Uint8Array, MessageTooLong | AuthenticationFailed | NonceExhausted> {
    if (message.length > maxMessage) {
      return Result.fail(new MessageTooLong({ length: message.length, limit: maxMessage }))
    }
    return this.#receiving.decrypt(nothing, message)
  }

  /** Replaces the key of the messages this side sends. The peer must `rekeyReceiving` at the same message. */
  rekeySending(): void {
    this.#sending.rekey()
  }

  /** Replaces the key of the messages this side reads. */
  rekeyReceiving(): void {
    this.#receiving.rekey()
  }

  #seal(plaintext: Uint8Array, output?: Uint8Array): Result.Result<Uint8Array, MessageTooLong | NonceExhausted> {
    if (plaintext.length > maxPlaintext) {
      return Result.fail(new MessageTooLong({ length: plaintext.length, limit: maxPlaintext }))
    }
    return this.#sending.encrypt(nothing, plaintext, output)
  }
}
