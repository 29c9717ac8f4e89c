/**
 * The framed relay of role `F` (data-plane 5.4) over its connection, as a plain byte stream with half-close.
 * @internal
 */
import { Result } from "effect"
import type { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import { type FramedEvent, FramedRelay } from "../frames/FramedRelay.ts"
import { guarded } from "./FaultBoundary.ts"
import { monotonicMillis } from "./MonotonicClock.ts"
import { closingMillis } from "./SessionTimers.ts"

type Done = (error?: Error | null) => void

const tickMillis = 1_000
/** Unsent bytes at which the peer is taken for one that makes us answer and does not read. */
const stuckBytes = 1024 * 1024

export class FramedStream extends Duplex {
  readonly #carrier: Duplex
  readonly #relay = new FramedRelay(monotonicMillis())
  readonly #timer: NodeJS.Timeout
  #listening = true
  #onDrain: (() => void) | undefined
  /** Bytes of the write that waits for the connection to drain. */
  #writing = 0

  /** Takes the connection over, from the first byte after STOP. */
  constructor(carrier: Duplex) {
    super({ allowHalfOpen: true })
    this.#carrier = carrier
    // The peer may break the relay before the stream's owner listens; that must not end the process.
    this.on("error", () => {})
    carrier.on("data", (chunk: Buffer) => this.#receive(chunk))
    carrier.on("end", () => this.#apply(this.#relay.endOfInput(monotonicMillis())))
    carrier.on("error", (error) => this.destroy(error))
    carrier.on("close", () => {
      if (!this.#relay.finished) this.destroy(new Error("the connection closed inside the relay"))
    })
    carrier.on("drain", () => this.#drained())
    // The keepalive of 5.4 on a raw socket; ends with the stream.
    const failed = (error: unknown) => void this.destroy(error instanceof Error ? error : new Error(String(error)))
    this.#timer = setInterval(
      guarded(failed, () => this.#tick()),
      tickMillis
    ).unref()
    carrier.resume()
  }

  override _read(): void {
    this.#listening = true
    this.#carrier.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    const frames = this.#relay.data(chunk, monotonicMillis())
    if (Result.isFailure(frames)) return done(new Error(frames.failure.reason))
    this.#carrier.cork()
    for (const frame of frames.success) this.#carrier.write(frame)
    this.#carrier.uncork()
    if (!this.#carrier.writableNeedDrain) return done()
    this.#writing = this.#carrier.writableLength
    this.#onDrain = done
  }

  override _final(done: Done): void {
    const fin = this.#relay.fin(monotonicMillis())
    if (Result.isSuccess(fin)) this.#carrier.write(fin.success)
    this.#closeIfFinished()
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    clearInterval(this.#timer)
    if (this.#relay.finished && error === null) this.#close()
    else this.#carrier.destroy()
    this.#drained()
    done(error)
  }

  #receive(chunk: Buffer): void {
    const received = this.#relay.receive(chunk, monotonicMillis())
    if (Result.isFailure(received)) {
      this.destroy(new Error(received.failure.reason))
      return
    }
    if (received.success.reply.length > 0) this.#reply(received.success.reply)
    if (this.destroyed) return
    this.#apply(Result.succeed(received.success.events))
  }

  /** Not held back until the connection drains: both ends could then wait for each other. */
  #reply(acknowledgement: Buffer): void {
    this.#carrier.write(acknowledgement)
    const data = this.#onDrain === undefined ? 0 : this.#writing
    if (this.#carrier.writableLength > stuckBytes + data) this.destroy(new Error("the peer does not read"))
  }

  #apply(events: Result.Result<ReadonlyArray<FramedEvent>, { readonly reason: string }>): void {
    if (Result.isFailure(events)) {
      this.destroy(new Error(events.failure.reason))
      return
    }
    for (const event of events.success) {
      if (event._tag === "Fin") this.push(null)
      else if (!this.push(event.bytes)) this.#listening = false
    }
    if (!this.#listening && !this.#relay.finReceived) this.#carrier.pause()
    this.#closeIfFinished()
  }

  #tick(): void {
    const { send, verdict } = this.#relay.tick(monotonicMillis(), this.#listening)
    if (verdict === "Dead") this.destroy(new Error("the peer no longer answers"))
    else if (verdict === "Expired") this.destroy()
    else if (send.length > 0) this.#carrier.write(send)
  }

  #closeIfFinished(): void {
    if (this.#relay.finished) this.#close()
  }

  #close(): void {
    clearInterval(this.#timer)
    if (this.#carrier.writableEnded) return
    this.#carrier.end()
    // Bounds the wait for the peer's own close on a raw socket.
    const destroy = setTimeout(() => this.#carrier.destroy(), closingMillis).unref()
    this.#carrier.once("close", () => clearTimeout(destroy))
  }

  #drained(): void {
    const done = this.#onDrain
    this.#onDrain = undefined
    done?.()
  }
}
