/**
 * One stream of a multiplexed session as a Node `Duplex`: writes wait for credit and their turn, reads give credit as
 * they are consumed, the two directions end on their own.
 */
import type { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import { encodeMuxFrame, maxDataBytes } from "../frames/MuxFrame.ts"
import { maxWindow } from "../frames/MuxHello.ts"
import type { OpenHeader } from "../frames/MuxOpen.ts"
import type { Reason, ResetCode } from "../frames/MuxReason.ts"
import { ByteQueue } from "./ByteQueue.ts"
import { type CarrierStream, StreamReset } from "./Carrier.ts"
import type { OnFault } from "./FaultBoundary.ts"
import type { MuxSender, Sendable } from "./MuxSender.ts"
import type { ReceiveWindow } from "./ReceiveWindow.ts"

/** What a stream needs of its session. */
export interface StreamHost {
  readonly sender: MuxSender
  /** The session's unread bytes changed by `delta`. */
  readonly held: (delta: number) => void
  /** The session holds more unread bytes than it should. */
  readonly overBudget: () => boolean
  /** The stream is over for the session; `sentReset` when it sent the peer a reset. */
  readonly release: (id: number, sentReset: boolean) => void
  /** A callback of the stream threw. */
  readonly onFault: OnFault
}

type Done = (error?: Error | null) => void

const ignore = () => {}

export class MuxStream extends Duplex implements CarrierStream, Sendable {
  readonly id: number
  readonly header: OpenHeader
  resetBy: StreamReset | undefined
  queued = false
  readonly #host: StreamHost
  readonly #window: ReceiveWindow
  #credit: number
  #pending: Array<Buffer> = []
  waiting = 0
  #done: Done | undefined
  readonly #backlog = new ByteQueue()
  #held = 0
  #localEnded = false
  #remoteEnded = false
  #released = false

  constructor(host: StreamHost, id: number, header: OpenHeader, credit: number, window: ReceiveWindow) {
    // One byte of high-water mark on the reading side: whatever the reader has not asked for waits in #backlog, where
    // it is compact and counted.
    super({ allowHalfOpen: true, readableHighWaterMark: 1, writableHighWaterMark: 64 * 1024 })
    this.#host = host
    this.id = id
    this.header = header
    this.#credit = credit
    this.#window = window
    // A reset is an ordinary event of a network stream and must not end a process that only listens for `close`.
    this.on("error", ignore)
  }

  /** What a listener throws ends this stream and not its session (see `FaultBoundary`). */
  override emit(event: string | symbol, ...args: ReadonlyArray<unknown>): boolean {
    try {
      return super.emit(event, ...args)
    } catch (error) {
      this.fault(error)
      return true
    }
  }

  /** A callback of this stream threw. */
  fault(error: unknown): void {
    this.#host.onFault(error)
    this.reset("internal", "a fault at the other end")
  }

  get sendable(): number {
    return Math.min(this.waiting, this.#credit)
  }

  reset(code: ResetCode, sentence = ""): void {
    if (!this.destroyed) this.destroy(new StreamReset({ code, sentence, by: "local" }))
  }

  /** The peer allows more bytes; `false` when it allows absurdly many. */
  addCredit(bytes: number): boolean {
    this.#credit += bytes
    if (this.waiting > 0) this.#host.sender.enqueue(this)
    return this.#credit <= maxWindow
  }

  sendFrame(): void {
    const length = Math.min(this.sendable, maxDataBytes)
    const pieces: Array<Buffer> = []
    let left = length
    while (left > 0) {
      const first = this.#pending[0]
      if (first === undefined) break
      if (first.length <= left) {
        this.#pending.shift()
        pieces.push(first)
        left -= first.length
      } else {
        pieces.push(first.subarray(0, left))
        this.#pending[0] = first.subarray(left)
        left = 0
      }
    }
    this.#credit -= length
    this.waiting -= length
    this.#host.sender.data(this.id, pieces, length)
    if (this.waiting === 0) this.#settle()
  }

  /** Payload from the peer; `false` when it sent more than it was allowed, or after its end. */
  receive(piece: Buffer): boolean {
    if (this.#remoteEnded || !this.#window.receive(piece.length)) return false
    if (this.#backlog.length === 0 && this.readableLength === 0) this.push(piece)
    else this.#backlog.append(piece)
    this.#account(this.#backlog.length + this.readableLength)
    return true
  }

  /** The peer sends no more; `false` when it said so before. */
  receiveEnd(): boolean {
    if (this.#remoteEnded) return false
    this.#remoteEnded = true
    if (this.#backlog.length === 0) this.push(null)
    this.#releaseIfEnded()
    return true
  }

  /** The peer cut the stream, or its session is gone. */
  receiveReset({ code, sentence }: Reason<ResetCode>): void {
    this.#release(false)
    this.destroy(new StreamReset({ code, sentence, by: "remote" }))
  }

  /** Unread bytes held for this stream. */
  get held(): number {
    return this.#held
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#send([chunk], chunk.length, done)
  }

  override _writev(chunks: Array<{ readonly chunk: Buffer }>, done: Done): void {
    let length = 0
    for (const { chunk } of chunks) length += chunk.length
    this.#send(
      chunks.map(({ chunk }) => chunk),
      length,
      done
    )
  }

  override _final(done: Done): void {
    this.#localEnded = true
    if (!this.#released) {
      const fin = encodeMuxFrame({ _tag: "Fin", id: this.id })
      // Behind the end of the other side it only frees what the peer keeps of the stream.
      if (this.#remoteEnded) this.#host.sender.lateControl(fin)
      else this.#host.sender.control(fin)
    }
    this.#releaseIfEnded()
    done()
  }

  override _read(): void {
    const block = this.#backlog.shift()
    if (block !== undefined) this.push(block)
    if (this.#remoteEnded && this.#backlog.length === 0) this.push(null)
    // Node asks for more just before it hands out all it has, so those bytes no longer wait.
    this.#account(this.#backlog.length + (block?.length ?? 0))
  }

  override _destroy(error: Error | null, done: Done): void {
    if (error instanceof StreamReset) this.resetBy = error
    if (!this.#released) {
      const reason: Reason<ResetCode> = this.resetBy ?? { code: "cancelled", sentence: "" }
      this.#host.sender.control(encodeMuxFrame({ _tag: "Reset", id: this.id, reason }))
      this.#release(true)
    }
    this.#pending = []
    this.waiting = 0
    this.#backlog.clear()
    this.#host.held(-this.#held)
    this.#held = 0
    this.#settle(error ?? undefined)
    done(error)
  }

  #send(pieces: Array<Buffer>, length: number, done: Done): void {
    if (length === 0) {
      done()
      return
    }
    this.#pending = pieces
    this.waiting = length
    this.#done = done
    if (this.#credit > 0) this.#host.sender.enqueue(this)
  }

  #settle(error?: Error): void {
    const done = this.#done
    this.#done = undefined
    done?.(error)
  }

  /** `held` bytes wait to be read. */
  #account(held: number): void {
    if (this.destroyed) return
    this.#host.held(held - this.#held)
    this.#held = held
    if (this.#remoteEnded || this.#released) return
    const credit = this.#window.grant(held, this.#host.overBudget())
    if (credit > 0) this.#host.sender.control(encodeMuxFrame({ _tag: "Window", id: this.id, credit }))
  }

  #releaseIfEnded(): void {
    if (this.#localEnded && this.#remoteEnded) this.#release(false)
  }

  #release(sentReset: boolean): void {
    if (this.#released) return
    this.#released = true
    this.#host.release(this.id, sentReset)
  }
}
