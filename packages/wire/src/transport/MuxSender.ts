/**
 * The sending half of a multiplexed session: control frames go out at once, DATA of all streams takes turns frame by
 * frame while the carrier takes bytes and the in-flight limit allows. Frames of one turn of the event loop are corked
 * together into as few TLS records as they fill: a write costs a record, and a system call at each end.
 * @internal
 */
import type { Buffer } from "node:buffer"
import type { Duplex } from "node:stream"
import { encodeHeader, FrameType } from "../frames/MuxFrame.ts"
import { InFlight } from "./InFlight.ts"
import { monotonicMillis } from "./MonotonicClock.ts"

/** A stream with bytes to send. */
export interface Sendable {
  readonly id: number
  /** Bytes that credit allows to be sent now. */
  readonly sendable: number
  /** Bytes that wait, with credit or without. */
  readonly waiting: number
  queued: boolean
  /** Sends one frame's worth through `data`. */
  readonly sendFrame: () => void
}

/** A write this small may pass streams that wait for the in-flight limit. */
const smallBytes = 4096
/** How long a late frame is kept. */
const lateMillis = 5
/** Unsent control bytes at which the peer is taken for one that does not read. */
const stuckBytes = 4 * 1024 * 1024

export class MuxSender {
  readonly #carrier: Duplex
  readonly #counters: { bytesSent: number }
  readonly #stuck: () => void
  readonly #inFlight = new InFlight(monotonicMillis())
  readonly #ready: Array<Sendable> = []
  #corked = false
  #late: Array<Buffer> = []
  #lateTimer: NodeJS.Timeout | undefined
  #pumping = false
  #closed = false

  /** `stuck` is called when the peer asks for answers and does not read them. */
  constructor(carrier: Duplex, counters: { bytesSent: number }, stuck: () => void) {
    this.#carrier = carrier
    this.#counters = counters
    this.#stuck = stuck
    carrier.on("drain", () => this.#pump())
  }

  control(frame: Buffer): void {
    if (this.#closed) return
    this.#cork()
    this.#carrier.write(frame)
    if (this.#carrier.writableLength > stuckBytes) this.#stuck()
  }

  /**
   * A control frame for which the peer does not wait: it goes with the next write, before what is said then, or with one of its own a
   * moment later.
   */
  lateControl(frame: Buffer): void {
    if (this.#closed) return
    if (this.#corked) return void this.#carrier.write(frame)
    this.#late.push(frame)
    this.#lateTimer ??= setTimeout(() => this.#cork(), lateMillis).unref()
  }

  /** One DATA frame of `length` bytes in any number of pieces. */
  data(id: number, pieces: ReadonlyArray<Buffer>, length: number): void {
    if (this.#closed) return
    this.#cork()
    this.#carrier.write(encodeHeader(FrameType.Data, id, length))
    for (const piece of pieces) this.#carrier.write(piece)
    this.#counters.bytesSent += length
    this.#inFlight.sent(length, monotonicMillis(), this.#ready.length > 0 || this.#full)
  }

  /** The stream has bytes and credit. */
  enqueue(stream: Sendable): void {
    if (stream.queued || this.#closed) return
    if (this.#mayPass(stream)) {
      stream.sendFrame()
      return
    }
    stream.queued = true
    this.#ready.push(stream)
    this.#pump()
  }

  /** `false` when the peer acknowledged what was not sent. */
  acked(bytes: number): boolean {
    if (!this.#inFlight.acked(bytes, monotonicMillis())) return false
    this.#pump()
    return true
  }

  close(): void {
    this.#closed = true
    this.#ready.length = 0
    this.#late = []
    clearTimeout(this.#lateTimer)
  }

  get #full(): boolean {
    return this.#inFlight.bytes >= this.#inFlight.limit
  }

  #mayPass(stream: Sendable): boolean {
    return (
      !this.#pumping &&
      this.#full &&
      stream.waiting <= smallBytes &&
      stream.sendable === stream.waiting &&
      !this.#carrier.writableNeedDrain &&
      this.#inFlight.bytes < this.#inFlight.limit * 1.25
    )
  }

  #pump(): void {
    // Sending completes a write, which may queue the next one of the same stream: that is left to the running loop.
    if (this.#pumping) return
    this.#pumping = true
    while (!this.#closed && !this.#carrier.writableNeedDrain && !this.#full) {
      const stream = this.#ready.shift()
      if (stream === undefined) break
      stream.queued = false
      if (stream.sendable > 0) stream.sendFrame()
      if (stream.sendable > 0 && !stream.queued) {
        stream.queued = true
        this.#ready.push(stream)
      }
    }
    this.#pumping = false
  }

  #writeLate(): void {
    clearTimeout(this.#lateTimer)
    this.#lateTimer = undefined
    for (const frame of this.#late) this.#carrier.write(frame)
    this.#late = []
  }

  #cork(): void {
    if (this.#corked) return
    this.#corked = true
    this.#carrier.cork()
    if (this.#late.length > 0) this.#writeLate()
    // Runs when all sockets that have brought something in this turn were read.
    setImmediate(() => {
      this.#corked = false
      this.#carrier.uncork()
    })
  }
}
