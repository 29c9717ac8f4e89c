/**
 * The answers of an origin on their way to a visitor. They are followed, and pass as they are; once the end of the connection is
 * announced, the next answer that is the last one owed says so.
 */
import { ResponseTracker } from "@catenet/wire/http/ResponseTracker"
import { coalesceWrites } from "@catenet/wire/transport/Coalesce"
import type { Writable } from "node:stream"
import { ConnectionCloseRewriter } from "./ConnectionCloseRewriter.ts"

export class OriginAnswers extends ResponseTracker {
  readonly #visitor: Writable
  readonly #joining: (chunk: Uint8Array) => void
  readonly #onLast: () => void
  #ends = false
  #closing: ConnectionCloseRewriter | undefined
  #hasBegun = false

  /** `onLast` is called when an answer has said that the connection ends. */
  constructor(visitor: Writable, onLast: () => void) {
    super()
    this.#visitor = visitor
    this.#joining = coalesceWrites(visitor)
    this.#onLast = onLast
  }

  /** Something was answered. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The answer that says that the connection ends is whole. */
  get isAtEnd(): boolean {
    return this.#closing?.said === true && this.isWhole
  }

  announceEnd(): void {
    this.#ends = true
  }

  /** Passes a chunk on, and returns what `push` does. */
  write(chunk: Buffer, done: () => void): boolean | undefined {
    this.#hasBegun = true
    this.#joining(chunk)
    // Waiting for each chunk to be sent would leave the visitor's line idle between chunks.
    if (this.#visitor.write(this.#rewritten(chunk))) done()
    else this.#visitor.once("drain", done)
    return this.push(chunk)
  }

  #rewritten(chunk: Buffer): Buffer {
    if (!this.#ends) return chunk
    if (this.#closing === undefined && this.between && this.owed === 1) this.#closing = new ConnectionCloseRewriter()
    if (this.#closing === undefined) return chunk
    const rewritten = this.#closing.push(chunk)
    if (this.#closing.said) this.#onLast()
    return rewritten
  }
}
