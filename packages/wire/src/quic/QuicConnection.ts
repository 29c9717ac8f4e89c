/** A QUIC connection as the program sees it. Its streams are Node streams; they end with it. */
import { Result } from "effect"
import type { CarrierStream, StreamRefused } from "../transport/Carrier.ts"
import type { FrameReader } from "../transport/FrameReader.ts"
import type { Mux } from "../transport/Mux.ts"
import { decode, encode, type Endpoint } from "./link/LinkFrame.ts"

/** Why a connection is over, with the code of its close frame. `process`: the QUIC process ended. */
export interface QuicClosed {
  readonly by: "local" | "remote" | "process"
  readonly code: number
  readonly reason: string
  /** Nothing came within the idle timeout. */
  readonly isIdle?: boolean
}

export type OnStream = (stream: CarrierStream) => void

export class QuicConnection {
  readonly #link: Mux
  readonly #control: CarrierStream
  readonly #closed = Promise.withResolvers<QuicClosed>()
  readonly #streams = new Set<CarrierStream>()
  readonly #early: Array<CarrierStream> = []
  #onStream: OnStream | undefined
  #ending: QuicClosed | undefined
  readonly remote: Endpoint
  readonly closed = this.#closed.promise

  /** @internal The control stream has said that the connection stands. */
  constructor(link: Mux, control: CarrierStream, reader: FrameReader, remote: Endpoint) {
    this.#link = link
    this.#control = control
    this.remote = remote
    void this.#watch(reader)
  }

  get isClosed(): boolean {
    return this.#ending !== undefined
  }

  /** Takes the streams that the peer opens, also those that it has opened before; they come paused. */
  take(onStream: OnStream): void {
    this.#onStream = onStream
    for (const stream of this.#early.splice(0)) onStream(stream)
  }

  /** A new bidirectional stream. The peer sees it with its first byte; it is reset with `full` where the peer takes no more. */
  open(): Result.Result<CarrierStream, StreamRefused> {
    return Result.map(this.#link.open({ registration: 0, kind: "mesh", tls: "none" }), (stream) => {
      stream.write(encode({ _tag: "Stream", connection: this.#control.id }))
      this.#hold(stream)
      return stream
    })
  }

  /** Ends the connection and its streams at once. */
  close(code = 0, reason = ""): void {
    if (this.#ending !== undefined) return
    this.#control.end(encode({ _tag: "Close", code, reason }))
    this.#end({ by: "local", code, reason })
  }

  /** @internal The peer opened a stream. */
  came(stream: CarrierStream): void {
    if (this.#ending !== undefined) return stream.reset("lost", "the connection has ended")
    this.#hold(stream)
    if (this.#onStream === undefined) this.#early.push(stream)
    else this.#onStream(stream)
  }

  #hold(stream: CarrierStream): void {
    this.#streams.add(stream)
    stream.once("close", () => this.#streams.delete(stream))
  }

  async #watch(reader: FrameReader): Promise<void> {
    const frame = await reader.next(decode)
    reader.release()
    this.#control.resume()
    if (Result.isSuccess(frame) && frame.success._tag === "Close") {
      const { code, isIdle, reason } = frame.success
      this.#control.end()
      return this.#end({ by: "remote", code, reason, ...(isIdle === true && { isIdle }) })
    }
    this.#control.destroy()
    this.#end({
      by: "process",
      code: 0,
      reason: `the QUIC process ended ${Result.isFailure(frame) ? JSON.stringify(frame.failure) : frame.success._tag}`
    })
  }

  #end(closed: QuicClosed): void {
    if (this.#ending !== undefined) return
    this.#ending = closed
    for (const stream of this.#streams) stream.reset("lost", "the connection has ended")
    this.#closed.resolve(closed)
  }
}
