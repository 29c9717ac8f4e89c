/**
 * A WebSocket as a byte stream (data-plane 9): binary messages are its bytes, texts are not part of it, a close is its end.
 * A WebSocket has no half: what is written after the other side closed goes nowhere, and two seconds later all is over. One that
 * is over without a close was cut, which is no end.
 */
import type { EventEmitter } from "node:events"
import { Duplex } from "node:stream"
import { guard, type OnFault } from "./FaultBoundary.ts"

/** What is used of a WebSocket, at either end. */
interface Socket extends EventEmitter {
  readonly readyState: number
  readonly OPEN: number
  readonly isPaused: boolean
  pause(): void
  resume(): void
  send(bytes: Uint8Array, options: { readonly binary: true }, done: (error?: Error | null) => void): void
  close(code: number): void
  terminate(): void
}

/** Bytes of one message, in either direction. */
export const longestMessage = 65_535

const graceMillis = 2_000
const normalClosure = 1_000
/** What a reader is given for a connection that was over without a close. */
const noClosure = 1_006

export class WebSocketStream extends Duplex {
  readonly #socket: Socket

  constructor(socket: Socket, ending: (stream: Duplex) => OnFault) {
    super()
    this.#socket = socket
    const fault = ending(this)
    guard(this, fault)
    guard(socket, fault)
    // An error without a listener would be a fault; its reader learns of it by "close".
    this.on("error", () => undefined)
    socket.on("error", (error) => this.destroy(error))
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary && !this.destroyed && !this.push(data)) socket.pause()
    })
    socket.on("close", (code: number) => {
      if (this.destroyed) return
      if (code === noClosure) return void this.destroy(new Error("the WebSocket was cut"))
      this.push(null)
      const timer = setTimeout(() => this.destroy(), graceMillis).unref()
      this.once("close", () => clearTimeout(timer))
    })
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    let rest = chunk
    while (rest.length > longestMessage) {
      this.#send(rest.subarray(0, longestMessage), () => undefined)
      rest = rest.subarray(longestMessage)
    }
    this.#send(rest, done)
  }

  override _final(done: () => void): void {
    this.#socket.close(normalClosure)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.terminate()
    done(error)
  }

  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return done()
    this.#socket.send(bytes, { binary: true }, done)
  }
}
