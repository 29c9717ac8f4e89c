/** Cuts the carrier's bytes into frames. DATA payload is passed on as it comes; only control frames are held together. */
import { Buffer } from "node:buffer"
import {
  type ControlFrame,
  decodeControl,
  decodeHeader,
  FrameType,
  type Header,
  headerBytes
} from "../frames/MuxFrame.ts"

export interface MuxSink {
  readonly control: (frame: ControlFrame) => void
  /** A piece of a DATA payload, over the carrier's own memory. */
  readonly data: (id: number, piece: Buffer) => void
  /** The peer broke the protocol; nothing more is read. */
  readonly violation: (reason: string) => void
}

export class MuxReader {
  readonly #sink: MuxSink
  readonly #partialHeader = Buffer.allocUnsafe(headerBytes)
  #headerLength = 0
  #header: Header | undefined
  #payload: Buffer | undefined
  #left = 0
  #stopped = false

  constructor(sink: MuxSink) {
    this.#sink = sink
  }

  /** No call of the sink follows, not even from within `feed`. */
  stop(): void {
    this.#stopped = true
  }

  feed(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#stopped) {
      at = this.#header === undefined ? this.#readHeader(chunk, at) : this.#readPayload(this.#header, chunk, at)
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    let source = chunk
    let start = at
    let end = at + headerBytes
    if (this.#headerLength > 0 || end > chunk.length) {
      const copied = chunk.copy(this.#partialHeader, this.#headerLength, at)
      this.#headerLength += copied
      if (this.#headerLength < headerBytes) return at + copied
      this.#headerLength = 0
      source = this.#partialHeader
      start = 0
      end = at + copied
    }
    const header = decodeHeader(source, start)
    if (header._tag === "Failure") {
      this.#fail(header.failure.reason)
      return chunk.length
    }
    this.#begin(header.success, chunk, end)
    return end
  }

  #begin(header: Header, chunk: Buffer, at: number): void {
    this.#left = header.length
    this.#header = header
    if (header.type === FrameType.Data) return
    if (header.length === 0) this.#finish(header, chunk.subarray(at, at))
    else this.#payload = undefined
  }

  #readPayload(header: Header, chunk: Buffer, at: number): number {
    const piece = chunk.subarray(at, at + this.#left)
    const end = at + piece.length
    if (header.type === FrameType.Data) {
      this.#left -= piece.length
      if (this.#left === 0) this.#header = undefined
      this.#sink.data(header.id, piece)
      return end
    }
    if (piece.length === header.length) {
      this.#finish(header, piece)
      return end
    }
    this.#payload ??= Buffer.allocUnsafe(header.length)
    piece.copy(this.#payload, header.length - this.#left)
    this.#left -= piece.length
    if (this.#left === 0) this.#finish(header, this.#payload)
    return end
  }

  #finish(header: Header, payload: Buffer): void {
    this.#header = undefined
    this.#payload = undefined
    const frame = decodeControl(header, payload)
    if (frame._tag === "Failure") this.#fail(frame.failure.reason)
    else this.#sink.control(frame.success)
  }

  #fail(reason: string): void {
    this.#stopped = true
    this.#sink.violation(reason)
  }
}
