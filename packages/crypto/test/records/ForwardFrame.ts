/**
 * The frames that carry several streams inside one channel session (section 12.8), big endian. The reader is fed the
 * plaintext as it comes; frames and Noise messages have no common boundaries.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Integer from "@catenet/crypto/Integer"
import { Malformed } from "@catenet/crypto/SignedRecord"
import { Data, Result } from "effect"

/** Opens, fills or closes a stream. Ids count from 1. */
export type ForwardFrame = Data.TaggedEnum<{
  /** Initiating side only. */
  Open: { readonly id: number; readonly target: string }
  Data: { readonly id: number; readonly bytes: Uint8Array }
  Close: { readonly id: number; readonly reason: string | undefined }
}>

/** The frames' constructors and matcher. */
export const ForwardFrame = Data.taggedEnum<ForwardFrame>()

/** Bytes a target, and a data frame, may have at most; senders put 16384 into one frame. */
export const limits = { target: 2048, data: 1_048_576, chunk: 16_384 } as const

/**
 * The frame's bytes.
 */
export const encode: (frame: ForwardFrame) => Uint8Array = ForwardFrame.$match({
  Open: ({ id, target }) => {
    const text = Bytes.fromText(target)
    return Bytes.concat(Integer.u8(1), Integer.u32be(id), Integer.u16be(text.length), text)
  },
  Data: ({ id, bytes }) => Bytes.concat(Integer.u8(2), Integer.u32be(id), Integer.u32be(bytes.length), bytes),
  Close: ({ id, reason }) => {
    const text = Bytes.fromText(reason ?? "")
    const hasReason = Integer.u8(reason === undefined ? 0 : 1)
    return Bytes.concat(Integer.u8(3), Integer.u32be(id), hasReason, Integer.u16be(text.length), text)
  }
})

const malformed = (why: string) => Result.fail(new Malformed({ record: "forward frame", why }))

const text = (bytes: Uint8Array) =>
  Result.mapError(Bytes.toText(bytes), () => new Malformed({ record: "forward frame", why: "a text is not UTF-8" }))

/** Bytes before the content, by tag, and the most the content may have. */
const shapes = new Map([
  [1, { head: 7, wide: false, most: limits.target }],
  [2, { head: 9, wide: true, most: limits.data }],
  [3, { head: 8, wide: false, most: 0xffff }]
])

/**
 * The first frame of a stream and its length, or `undefined` while it is not all there. An unknown tag, an oversize length
 * or bad UTF-8 is refused as soon as it can be seen and ends the session.
 */
export const read = (
  stream: Uint8Array
): Result.Result<{ readonly frame: ForwardFrame; readonly length: number } | undefined, Malformed> => {
  const tag = stream[0]
  if (tag === undefined) return Result.succeed(undefined)
  const shape = shapes.get(tag)
  if (shape === undefined) return malformed("unknown tag")
  if (stream.length < shape.head) return Result.succeed(undefined)
  const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength)
  const size = shape.wide ? view.getUint32(shape.head - 4) : view.getUint16(shape.head - 2)
  if (size > shape.most) return malformed("a length above its limit")
  const length = shape.head + size
  if (stream.length < length) return Result.succeed(undefined)
  const id = view.getUint32(1)
  const content = Bytes.copy(stream, shape.head, length)
  if (tag === 2) return Result.succeed({ frame: ForwardFrame.Data({ id, bytes: content }), length })
  return Result.map(text(content), (written) => ({
    frame:
      tag === 1
        ? ForwardFrame.Open({ id, target: written })
        : ForwardFrame.Close({ id, reason: view.getUint8(5) === 0 ? undefined : written }),
    length
  }))
}
