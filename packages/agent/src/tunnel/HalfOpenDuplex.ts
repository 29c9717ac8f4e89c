/**
 * A duplex for Node's TLS to run on, which stays open until the TLS session closes it. Node takes the close of the stream under a
 * TLS session for a cut, even when both sides have ended before and only its own last step is open.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { Duplex } from "node:stream"

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
