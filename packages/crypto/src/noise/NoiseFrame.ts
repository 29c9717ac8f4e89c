/**
 * Noise messages on a byte stream: u16be length, then the message.
 *
 * A frame above the reader's limit is refused at its second byte, before anything is buffered. Authenticity is not checked here.
 */
import { Data, Result } from "effect"
import { MessageTooLong } from "./NoiseError.ts"
import { maxMessage } from "./Transport.ts"

/** The stream ended inside a frame, `missing` bytes before its end (at least). */
export class FrameTruncated extends Data.TaggedError("FrameTruncated")<{ readonly missing: number }> {
  override get message() {
    return `the stream ended ${this.missing} bytes before the end of a frame`
  }
}

/**
 * Plaintext bytes that a sender puts into one message. Our readers accept four times as much, other readers only a little more.
 */
export const sendLimit = 16384

/**
 * A handshake message, or one from `Transport.encrypt`, behind its length.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
 *
 * deepStrictEqual(NoiseFrame.encode(Uint8Array.of(7, 8)), Result.succeed(Uint8Array.of(0, 2, 7, 8)))
 * ```
 */
export const encode = (message: Uint8Array): Result.Result<Uint8Array, MessageTooLong> => {
  const { length } = message
  if (length > maxMessage) return Result.fail(new MessageTooLong({ length, limit: maxMessage }))
  const frame = new Uint8Array(2 + length)
  frame[0] = length >>> 8
  frame[1] = length
  frame.set(message, 2)
  return Result.succeed(frame)
}

/**
 * The parts of a plaintext that go into one message each, as views. No bytes are no message.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
 *
 * deepStrictEqual(
 *   Array.from(NoiseFrame.split(new Uint8Array(20000)), (part) => part.length),
 *   [16384, 3616]
 * )
 * ```
 */
export function* split(plaintext: Uint8Array, limit = sendLimit): Generator<Uint8Array, void> {
  for (let start = 0; start < plaintext.length; start += limit) yield plaintext.subarray(start, start + limit)
}

/**
 * Cuts a stream into messages, wherever its chunks end.
 *
 * A message that lies inside one chunk is a view of it; the caller may keep it as long as it keeps the chunk.
 *
 * ```ts
 * import { deepStrictEqual, ok } from "node:assert"
 * import { Result } from "effect"
 * import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
 *
 * const frames = new NoiseFrame.FrameDecoder()
 * deepStrictEqual(frames.push(Uint8Array.of(0, 2, 7)), Result.succeed([]))
 * deepStrictEqual(frames.push(Uint8Array.of(8, 0)), Result.succeed([Uint8Array.of(7, 8)]))
 * ok(Result.isFailure(frames.end()))
 * ```
 */
export class FrameDecoder {
  readonly #limit: number
  /** High byte of a length whose low byte has not come. */
  #high: number | undefined
  /** A message whose end has not come, and how much of it is there. */
  #message: Uint8Array | undefined
  #filled = 0

  /** `limit`: bytes of the longest message to take, where less than 65,535 is expected. */
  constructor(limit = maxMessage) {
    this.#limit = limit
  }

  /** The messages that `chunk` completes. After a failure the stream is out of step: end it. */
  push(chunk: Uint8Array): Result.Result<ReadonlyArray<Uint8Array>, MessageTooLong> {
    const messages: Array<Uint8Array> = []
    let start = 0
    while (start < chunk.length) {
      if (this.#message === undefined) {
        const byte = chunk[start++] ?? 0
        if (this.#high === undefined) {
          this.#high = byte
          continue
        }
        const length = this.#high * 256 + byte
        if (length > this.#limit) return Result.fail(new MessageTooLong({ length, limit: this.#limit }))
        this.#high = undefined
        if (length <= chunk.length - start) messages.push(chunk.subarray(start, (start += length)))
        else this.#message = new Uint8Array(length)
      } else {
        const part = chunk.subarray(start, start + this.#message.length - this.#filled)
        this.#message.set(part, this.#filled)
        this.#filled += part.length
        start += part.length
        if (this.#filled < this.#message.length) break
        messages.push(this.#message)
        this.#message = undefined
        this.#filled = 0
      }
    }
    return Result.succeed(messages)
  }

  /** Whether the stream may end here: between two frames. */
  end(): Result.Result<void, FrameTruncated> {
    if (this.#message !== undefined) {
      return Result.fail(new FrameTruncated({ missing: this.#message.length - this.#filled }))
    }
    return this.#high === undefined ? Result.void : Result.fail(new FrameTruncated({ missing: 1 }))
  }
}
