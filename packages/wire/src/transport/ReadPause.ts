/**
 * Does not read a peer for a while, because of how many small pieces it sends: back-pressure would not bring that about, as buffers
 * and windows count bytes and not pieces.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Readable } from "node:stream"
import type { TLSSocket } from "node:tls"

/** The state of a readable stream, which Node shows but does not document. */
interface Buffering {
  readonly _readableState?: { highWaterMark: number }
}

/** A stream that is not read goes on to decrypt until `highWaterMark` bytes lie there: with one byte, one piece more. */
const setReadAhead = ({ _readableState: state }: Readable & Buffering, bytes: number) => {
  if (state !== undefined) state.highWaterMark = bytes
}

/** What reads for a socket, which Node shows but does not document. */
interface Reading {
  readonly _handle?: { readonly readStop: () => void; readonly readStart: () => void } | null
}

/** Pauses a stream whose `data` somebody takes. */
export class StreamPause {
  readonly #stream: Readable
  readonly #readAhead: number
  #timer: NodeJS.Timeout | undefined

  constructor(stream: Readable) {
    this.#stream = stream
    this.#readAhead = stream.readableHighWaterMark
  }

  get isPaused(): boolean {
    return this.#timer !== undefined
  }

  /** `resume` is called at the end. */
  pause(millis: number, resume: () => void): void {
    if (millis <= 0 || this.isPaused) return
    this.#stream.pause()
    setReadAhead(this.#stream, 1)
    this.#timer = Scheduler.setTimeout(() => {
      this.#timer = undefined
      setReadAhead(this.#stream, this.#readAhead)
      if (!this.#stream.destroyed) resume()
    }, millis).unref()
  }
}

/** Does not read a socket that its HTTP/2 session reads by itself. */
export class SessionPause {
  readonly #socket: TLSSocket & Reading
  #timer: NodeJS.Immediate | NodeJS.Timeout | undefined
  #millis = 0

  constructor(socket: TLSSocket) {
    this.#socket = socket
  }

  pause(millis: number): void {
    this.#millis = millis
    if (millis <= 0 || this.#timer !== undefined) return
    this.#socket._handle?.readStop()
    const wake = () => {
      this.#timer = undefined
      if (!this.#socket.destroyed) this.#socket._handle?.readStart()
    }
    // All small frames of one read are counted before it.
    this.#timer = Scheduler.setImmediate(() => {
      this.#timer = Scheduler.setTimeout(wake, this.#millis).unref()
    })
  }
}
