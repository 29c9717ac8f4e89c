/**
 * The body of a request on its way to the origin. The chunks and the trailers are written anew from what was read: the
 * chunks of one read are one, extensions are left out, and trailers that no origin should believe.
 */
import { BodyFraming, type BodyWriter, type Framing } from "@catenet/wire/http/BodyFraming"
import type { Field } from "@catenet/wire/http/FieldLine"
import { isTrailer } from "../FieldNames.ts"

const crlf = Buffer.from("\r\n")
const lastChunk = Buffer.from("0\r\n")

/** Chunks smaller than this are counted. */
const crumbBytes = 64
/** Data of less is copied into one buffer with the size and the end of its chunk. */
const copiedBytes = 4_096

/** Writes the parts to where the caller of `RequestBody.take` wants them: all chunks of one read as one. */
class Rewritten implements BodyWriter {
  readonly #chunked: boolean
  #out: Array<Buffer> = []
  #pieces: Array<Buffer> = []
  #length = 0
  /** Small chunks that were read. */
  crumbs = 0
  /** Bytes that were read. */
  bytes = 0

  constructor(chunked: boolean) {
    this.#chunked = chunked
  }

  into(out: Array<Buffer>) {
    this.#out = out
  }

  data(bytes: Buffer) {
    this.bytes += bytes.length
    if (!this.#chunked) return void this.#out.push(bytes)
    this.#pieces.push(bytes)
    this.#length += bytes.length
  }

  chunk(size: number) {
    if (size < crumbBytes) this.crumbs += 1
    if (size > 0) return
    this.flush()
    this.#out.push(lastChunk)
  }

  chunkEnd() {}

  /** What was read of chunks goes on as one. */
  flush() {
    if (this.#length === 0) return
    const parts = [Buffer.from(`${this.#length.toString(16)}\r\n`, "latin1"), ...this.#pieces, crlf]
    if (this.#length < copiedBytes || this.#pieces.length > 2) this.#out.push(Buffer.concat(parts))
    else this.#out.push(...parts)
    this.#pieces = []
    this.#length = 0
  }

  trailer({ key, name, value }: Field) {
    if (isTrailer(key)) this.#out.push(Buffer.from(`${name}: ${value}\r\n`, "latin1"))
  }

  trailersEnd() {
    this.#out.push(crlf)
  }
}

export class RequestBody {
  readonly #rewritten: Rewritten
  readonly #end: BodyFraming

  constructor(framing: Framing) {
    this.#rewritten = new Rewritten(framing._tag === "Chunked")
    this.#end = new BodyFraming(framing, this.#rewritten)
  }

  get over(): boolean {
    return this.#end.over
  }

  get malformed(): boolean {
    return this.#end.malformed
  }

  /** Small chunks that were read so far. */
  get crumbs(): number {
    return this.#rewritten.crumbs
  }

  /** Bytes that were read so far. */
  get bytes(): number {
    return this.#rewritten.bytes
  }

  /** Adds to `out` what goes to the origin; returns how many of the bytes belonged to the body. */
  take(bytes: Buffer, out: Array<Buffer>): number {
    this.#rewritten.into(out)
    const taken = this.#end.take(bytes)
    this.#rewritten.flush()
    return taken
  }
}
