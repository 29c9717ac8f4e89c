/** The server's side of a TLS session on any stream. */
import { TLSSocket } from "@catenet/platform/Sockets"
import { abort } from "@catenet/wire/transport/Abort"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Duplex } from "node:stream"
import type { TLSSocketOptions } from "node:tls"

/**
 * A duplex for Node's TLS to run on, which stays open until the TLS session closes it. Node takes the close of the stream under a
 * TLS session for a cut, even when both sides have ended before and only its own last step is open.
 */
type Done = (error?: Error | null) => void

export class HalfOpenDuplex extends Duplex {
  readonly #under: Duplex

  /** Takes the stream over. */
  constructor(under: Duplex) {
    super({ autoDestroy: false, allowHalfOpen: true })
    this.#under = under
    this.on("error", () => {})
    under.on("data", (chunk: Uint8Array) => {
      if (!this.push(chunk)) under.pause()
    })
    under.on("end", () => this.push(null))
    under.on("error", (error) => this.destroy(error))
    under.on("close", () => {
      if (!under.readableEnded) this.destroy(new Error("the connection was cut"))
    })
  }

  override _read() {
    this.#under.resume()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done) {
    if (this.#under.write(chunk) || this.#under.destroyed) done()
    else this.#under.once("drain", done)
  }

  override _final(done: Done) {
    this.#under.end()
    done()
  }

  override _destroy(error: Error | null, done: Done) {
    if (!this.#under.readableEnded || !this.#under.writableEnded) abort(this.#under)
    done(error)
  }
}

/**
 * Takes the stream over. The socket emits `secure` after the handshake, and `close` in any case; `ending` makes what a fault in
 * one of its callbacks does.
 */
export const make = (stream: Duplex, options: TLSSocketOptions, ending: (socket: TLSSocket) => OnFault): TLSSocket => {
  const socket = new TLSSocket(new HalfOpenDuplex(stream), { ...options, isServer: true })
  guard(socket, ending(socket))
  // Only sockets of a `tls.Server` end by themselves when TLS breaks after the handshake. Others emit this event of Node's own
  // and stay open, and the client would wait for ever.
  socket.once("_tlsError", (error: Error) => socket.destroy(error))
  return socket
}
