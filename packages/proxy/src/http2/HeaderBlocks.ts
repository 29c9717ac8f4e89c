/**
 * Finds the header block that an HTTP/2 visitor began and does not finish. Node says nothing of it: the stream is announced when
 * its block is whole. But the session counts the stream as processed when the block begins, and nothing but the rest of the block
 * may come before its end (RFC 9113 section 4.3): a peer that acknowledges a PING sent meanwhile has no block open.
 */
import type { ServerHttp2Session } from "node:http2"

export class HeaderBlocks {
  readonly #session: ServerHttp2Session
  readonly #millis: number
  /** Streams up to this one are known to have their whole block. */
  #whole = 0
  /** The stream whose block seems to be open, and since when. */
  #open: { readonly id: number; readonly since: number } | undefined

  constructor(session: ServerHttp2Session, millis: number) {
    this.#session = session
    this.#millis = millis
  }

  /** The stream was announced, so that its block and all before it are whole. */
  announced(id: number) {
    this.#finished(id)
  }

  /** To be asked several times within the bound: whether a block is open for so long. */
  isLate(now: number): boolean {
    if (this.#session.destroyed) return false
    if (this.#open !== undefined) return now - this.#open.since >= this.#millis
    const { lastProcStreamID: id = 0 } = this.#session.state
    if (id <= this.#whole) return false
    this.#open = { id, since: now }
    this.#session.ping((error) => {
      if (error === null) this.#finished(id)
    })
    return false
  }

  #finished(id: number) {
    this.#whole = Math.max(this.#whole, id)
    if (this.#open !== undefined && this.#open.id <= this.#whole) this.#open = undefined
  }
}
