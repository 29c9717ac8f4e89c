/**
 * What every codec of this folder answers: a decoded value with the bytes it took, or why there is none.
 * Codecs do no I/O, read no clock and never throw on foreign bytes.
 */
import { Result } from "effect"

/** A frame found at the start of the bytes; `size` bytes of them belong to it. */
export interface Decoded<A> {
  readonly value: A
  readonly size: number
}

/** The bytes are a proper prefix of a frame. */
export interface NeedMore {
  readonly _tag: "NeedMore"
}

/** No continuation of these bytes is a frame. */
export interface Malformed {
  readonly _tag: "Malformed"
  readonly reason: string
}

export type Decoding<A> = Result.Result<Decoded<A>, NeedMore | Malformed>

export const decoded = <A>(value: A, size: number): Decoding<A> => Result.succeed({ value, size })

export const needMore: Result.Result<never, NeedMore> = Result.fail({ _tag: "NeedMore" })

export const malformed = (reason: string): Result.Result<never, Malformed> => Result.fail({ _tag: "Malformed", reason })

/** A `Buffer` over the same memory. */
export const view = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
