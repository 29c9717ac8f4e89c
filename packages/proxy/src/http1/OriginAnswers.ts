/**
 * The answers of an origin on their way to a visitor. They are followed, and pass as they are; once the end of the connection is
 * announced, the next answer that is the last one owed says so.
 */
import type { Edits } from "@catenet/domain/rules/Evaluation"
import { ResponseTracker, type TrackedRequest } from "@catenet/wire/http/ResponseTracker"
import { coalesceWrites } from "@catenet/wire/transport/Coalesce"
import type { Writable } from "node:stream"
import { editHead } from "../FieldEdits.ts"
import { maxHead } from "./RequestHead.ts"

/**
 * Says in the last answer of an HTTP/1.1 connection that it ends: the head of the answer gets `Connection: close`. Sans I/O. It
 * takes what an origin says from the first byte of an answer on; interim answers pass, and so does what is no answer in HTTP.
 */
const headEnd = Buffer.from("\r\n\r\n")
const statusLine = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/
const ofConnection = /^(?:connection|keep-alive):/i

export class ConnectionCloseRewriter {
  #pending: Buffer = Buffer.alloc(0)
  #state: "head" | "said" | "not said" = "head"

  /** The head has been passed on with it. */
  get said(): boolean {
    return this.#state === "said"
  }

  /** Takes what the origin sent and returns what goes to the visitor. */
  push(chunk: Buffer): Buffer {
    if (this.#state !== "head") return chunk
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const end = bytes.indexOf(headEnd)
    if (end < 0 && bytes.length <= maxHead) {
      this.#pending = bytes
      return Buffer.alloc(0)
    }
    this.#pending = Buffer.alloc(0)
    const [first = "", ...fields] = end < 0 ? [] : bytes.toString("latin1", 0, end).split("\r\n")
    const status = Number(statusLine.exec(first)?.[1] ?? 101)
    const rest = bytes.subarray(end + headEnd.length)
    if (status >= 100 && status < 200 && status !== 101)
      return Buffer.concat([bytes.subarray(0, end + headEnd.length), this.push(rest)])
    if (status === 101) {
      this.#state = "not said"
      return bytes
    }
    this.#state = "said"
    const kept = fields.filter((field) => !ofConnection.test(field))
    return Buffer.concat([Buffer.from([first, ...kept, "Connection: close", "", ""].join("\r\n"), "latin1"), rest])
  }
}

export class OriginAnswers extends ResponseTracker {
  readonly #visitor: Writable
  readonly #joining: (chunk: Uint8Array) => void
  readonly #onLast: () => void
  #ends = false
  #asksNoMore = false
  #closing: ConnectionCloseRewriter | undefined
  #hasBegun = false
  /** What goes to the visitor of the chunk that is being taken, once rules have edited an answer. */
  #edited: Array<Buffer> | undefined
  /** Of a head that was passed on before. */
  #passed = 0

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

  /**
   * The answer that says that the connection ends is whole, or that of the visitor's last request, which may not be read to its
   * end. The connection ends behind it also where the origin keeps its own (RFC 9112 section 9.6).
   */
  isAtEnd(isReading: boolean): boolean {
    return (this.#closing?.said === true || (this.#asksNoMore && !isReading)) && this.isWhole
  }

  override asks(request: TrackedRequest & { readonly edits?: Edits | undefined; readonly last?: boolean }): boolean {
    this.#asksNoMore = request.last === true
    if ((request.edits?.response.length ?? 0) > 0 && this.#edited === undefined) {
      this.#edited = []
      this.#passed = this.pendingBytes
      this.follow((piece, answered) => this.#take(piece, answered))
    }
    return super.asks(request)
  }

  #take(piece: Buffer, request: (TrackedRequest & { readonly edits?: Edits | undefined }) | undefined) {
    const edits = this.#passed > 0 ? undefined : request?.edits?.response
    this.#edited?.push(
      edits === undefined || edits.length === 0 ? piece.subarray(this.#passed) : editHead(piece, edits)
    )
    this.#passed = 0
  }

  announceEnd(): void {
    this.#ends = true
  }

  /** Passes a chunk on, and returns what `push` does. */
  write(chunk: Buffer, done: () => void): boolean | undefined {
    this.#hasBegun = true
    const closing = this.#closingNow()
    const before = this.#edited === undefined ? undefined : this.push(chunk)
    const bytes = this.#rewritten(this.#edited === undefined ? chunk : Buffer.concat(this.#edited.splice(0)), closing)
    this.#joining(bytes)
    // Waiting for each chunk to be sent would leave the visitor's line idle between chunks.
    if (this.#visitor.write(bytes)) done()
    else this.#visitor.once("drain", done)
    return this.#edited === undefined ? this.push(chunk) : before
  }

  /** What says in the last answer that the connection ends, if that is the next. */
  #closingNow() {
    if (this.#ends && this.between && this.owed === 1) this.#closing ??= new ConnectionCloseRewriter()
    return this.#closing
  }

  #rewritten(chunk: Buffer, closing: ConnectionCloseRewriter | undefined): Buffer {
    if (closing === undefined) return chunk
    const rewritten = closing.push(chunk)
    if (closing.said) this.#onLast()
    return rewritten
  }
}
