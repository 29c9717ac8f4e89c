/**
 * The body of a request on its way to the origin. The sizes of chunks and the trailers are written anew from what was read:
 * extensions are left out, and trailers that no origin should believe.
 */
import { BodyEnd, type BodyWriter, type Framing } from "./BodyEnd.ts"
import type { Field } from "./FieldLine.ts"
import { isTrailer } from "./FieldNames.ts"

const crlf = Buffer.from("\r\n")

/** Writes the parts to where the caller of `RequestBody.take` wants them. */
class Rewritten implements BodyWriter {
  #out: Array<Buffer> = []

  into(out: Array<Buffer>) {
    this.#out = out
  }

  data(bytes: Buffer) {
    this.#out.push(bytes)
  }

  chunk(size: number) {
    this.#out.push(Buffer.from(`${size.toString(16)}\r\n`, "latin1"))
  }

  chunkEnd() {
    this.#out.push(crlf)
  }

  trailer({ key, name, value }: Field) {
    if (isTrailer(key)) this.#out.push(Buffer.from(`${name}: ${value}\r\n`, "latin1"))
  }

  trailersEnd() {
    this.#out.push(crlf)
  }
}

export class RequestBody {
  readonly #rewritten = new Rewritten()
  readonly #end: BodyEnd

  constructor(framing: Framing) {
    this.#end = new BodyEnd(framing, this.#rewritten)
  }

  get over(): boolean {
    return this.#end.over
  }

  get malformed(): boolean {
    return this.#end.malformed
  }

  /** Adds to `out` what goes to the origin; returns how many of the bytes belonged to the body. */
  take(bytes: Buffer, out: Array<Buffer>): number {
    this.#rewritten.into(out)
    return this.#end.take(bytes)
  }
}
