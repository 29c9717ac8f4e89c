/**
 * The framed relay phase of role `F` (data-plane 5.4), one end of it, as a state machine without I/O: bytes and the
 * time go in, bytes and events come out. It keeps a quiet relay alive through middleboxes that drop silent flows and
 * tells a dead peer from a quiet one. Both ends run the same machine. Times are milliseconds of any monotonic clock.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"

const dataFrame = 0xfc
const keepaliveFrame = 0xfd
const ackFrame = 0xf8
const finFrame = 0xfe

/** Longest payload of one DATA frame. */
export const maxFramedBytes = 262_144
const quietMillis = 8_000
const deadMillis = 24_000
const halfOpenMillis = 180_000
const maxOutstanding = 64

export type FramedEvent =
  | { readonly _tag: "Data"; readonly bytes: Buffer }
  /** The peer sends no more data. */
  | { readonly _tag: "Fin" }

export interface Received {
  readonly events: ReadonlyArray<FramedEvent>
  /** Acknowledgements to write at once. */
  readonly reply: Buffer
}

/** `Dead`: the peer answers no more. `Expired`: it finished long ago and nothing is left to tell it. */
export type Verdict = "Alive" | "Dead" | "Expired"

export interface Tick {
  readonly verdict: Verdict
  /** A keepalive to write at once, or nothing. */
  readonly send: Buffer
}

const nothing = Buffer.alloc(0)

const counted = (type: number, counter: bigint): Buffer => {
  const frame = Buffer.allocUnsafe(9)
  frame[0] = type
  frame.writeBigUInt64BE(counter, 1)
  return frame
}

export class FramedRelay {
  #sentAt: number
  #finishedAt: number
  #counter = 0n
  #unacked: Array<{ readonly counter: bigint; readonly sentAt: number }> = []
  #lastAcked: bigint | undefined
  #finSent = false
  #finReceived = false
  #partial: Buffer = nothing
  #payloadLeft = 0

  constructor(now: number) {
    this.#sentAt = now
    this.#finishedAt = now
  }

  get finReceived(): boolean {
    return this.#finReceived
  }

  /** Both directions ended in order: the connection may be closed with close_notify. */
  get finished(): boolean {
    return this.#finSent && this.#finReceived
  }

  /** Frames for `bytes`, header and payload apart so that the payload is not copied. Fails after `fin`. */
  data(bytes: Uint8Array, now: number): Result.Result<ReadonlyArray<Buffer>, Malformed> {
    if (this.#finSent) return malformed("data after fin")
    const payload = view(bytes)
    const frames: Array<Buffer> = []
    for (let at = 0; at < payload.length; at += maxFramedBytes) {
      const piece = payload.subarray(at, at + maxFramedBytes)
      const header = Buffer.allocUnsafe(5)
      header[0] = dataFrame
      header.writeUInt32BE(piece.length, 1)
      frames.push(header, piece)
    }
    if (frames.length > 0) {
      this.#sentAt = now
      this.#finishedAt = now
    }
    return Result.succeed(frames)
  }

  /** The half-close of this end. Fails the second time. */
  fin(now: number): Result.Result<Buffer, Malformed> {
    if (this.#finSent) return malformed("second fin")
    this.#finSent = true
    this.#sentAt = now
    return Result.succeed(Buffer.from([finFrame]))
  }

  /** Bytes of the peer, cut anywhere. After a failure the machine is of no more use. */
  receive(bytes: Uint8Array, now: number): Result.Result<Received, Malformed> {
    const input = this.#partial.length === 0 ? view(bytes) : Buffer.concat([this.#partial, bytes])
    this.#partial = nothing
    const events: Array<FramedEvent> = []
    let ack: bigint | undefined
    let at = 0
    while (at < input.length) {
      if (this.#payloadLeft > 0) {
        const piece = input.subarray(at, at + this.#payloadLeft)
        this.#payloadLeft -= piece.length
        at += piece.length
        events.push({ _tag: "Data", bytes: piece })
        continue
      }
      const type = input.readUInt8(at)
      if (type === finFrame) {
        if (this.#finReceived) return malformed("second fin")
        this.#peerFinished(now)
        events.push({ _tag: "Fin" })
        at += 1
        continue
      }
      if (type !== dataFrame && type !== keepaliveFrame && type !== ackFrame) return malformed("not a relay frame")
      if (type === dataFrame && this.#finReceived) return malformed("data after fin")
      const size = type === dataFrame ? 5 : 9
      if (input.length - at < size) {
        this.#partial = Buffer.from(input.subarray(at))
        break
      }
      if (type === dataFrame) {
        const length = input.readUInt32BE(at + 1)
        if (length > maxFramedBytes) return malformed("frame too long")
        this.#payloadLeft = length
      } else {
        const counter = input.readBigUInt64BE(at + 1)
        if (type === ackFrame) this.#unacked = this.#unacked.filter((sent) => sent.counter > counter)
        else if (this.#lastAcked === undefined || counter > this.#lastAcked) {
          this.#lastAcked = counter
          ack = counter
        }
      }
      at += size
    }
    if (ack !== undefined) this.#sentAt = now
    return Result.succeed({ events, reply: ack === undefined ? nothing : counted(ackFrame, ack) })
  }

  /** The peer's connection ended: an implicit fin between frames, an error inside one. */
  endOfInput(now: number): Result.Result<ReadonlyArray<FramedEvent>, Malformed> {
    if (this.#payloadLeft > 0 || this.#partial.length > 0) return malformed("end inside a frame")
    if (this.#finReceived) return Result.succeed([])
    this.#peerFinished(now)
    return Result.succeed([{ _tag: "Fin" }])
  }

  #peerFinished(now: number): void {
    this.#finReceived = true
    this.#unacked = []
    this.#finishedAt = now
  }

  /**
   * To be called at least once a second. `listening` is false while input is held back because its reader is slow:
   * answers may lie unread then, and silence proves nothing.
   */
  tick(now: number, listening = true): Tick {
    if (!listening) this.#unacked = []
    if (this.#finReceived) {
      if (now - this.#finishedAt >= halfOpenMillis) return { verdict: "Expired", send: nothing }
    } else {
      const [oldest] = this.#unacked
      if (oldest !== undefined && now - oldest.sentAt >= deadMillis) return { verdict: "Dead", send: nothing }
    }
    if (now - this.#sentAt < quietMillis) return { verdict: "Alive", send: nothing }
    const counter = this.#counter++
    this.#sentAt = now
    if (listening && !this.#finReceived && this.#unacked.length < maxOutstanding)
      this.#unacked.push({ counter, sentAt: now })
    return { verdict: "Alive", send: counted(keepaliveFrame, counter) }
  }
}
