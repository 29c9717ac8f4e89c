import { Result } from "effect"
import { decoded, type Decoding, needMore, view } from "../../src/frames/Frame.ts"
import { decodeControl, decodeHeader, FrameType, headerBytes, type MuxFrame } from "../../src/frames/MuxFrame.ts"

/** A whole frame at the start of the bytes. A session never holds one: it passes the payload of DATA on as it comes. */
export const decodeMuxFrame = (bytes: Uint8Array): Decoding<MuxFrame> => {
  const buffer = view(bytes)
  if (buffer.length < headerBytes) return needMore
  const header = decodeHeader(buffer, 0)
  if (header._tag === "Failure") return Result.fail(header.failure)
  const { id, length, type } = header.success
  const size = headerBytes + length
  if (buffer.length < size) return needMore
  const payload = buffer.subarray(headerBytes, size)
  if (type === FrameType.Data) return decoded({ _tag: "Data", id, payload }, size)
  const control = decodeControl(header.success, payload)
  return control._tag === "Failure" ? Result.fail(control.failure) : decoded(control.success, size)
}
