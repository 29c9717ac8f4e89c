/**
 * Finds where the body of an HTTP/1 message ends (RFC 9112 sections 6.2 and 7.1), whatever pieces it comes in, and says what
 * it read to a writer that wants it. It keeps no more than one line. What two parsers could read differently is malformed.
 */
import { type Field, parseField } from "./FieldLine.ts"

/** How the body behind a head is delimited. */
export type Framing = { readonly _tag: "Length"; readonly bytes: number } | { readonly _tag: "Chunked" }

/** Takes the parts of a body in their order. */
export interface BodyWriter {
  readonly data: (bytes: Buffer) => void
  /** A chunk of this size begins; of size 0, the trailers. */
  readonly chunk: (size: number) => void
  readonly chunkEnd: () => void
  readonly trailer: (field: Field) => void
  readonly trailersEnd: () => void
}

const maxLine = 4_096
const maxTrailers = 16_384
const cr = 0x0d
const lf = 0x0a
/** Digits of a chunk size that is read without its text: enough for 4 GiB. */
const maxPlainDigits = 8
/** What each byte is worth as a hexadecimal digit; -1 where it is none. */
const hexDigits: ReadonlyArray<number> = Array.from({ length: 256 }, (_, byte) => {
  const text = String.fromCharCode(byte)
  return /[0-9a-fA-F]/.test(text) ? Number.parseInt(text, 16) : -1
})
/** Extensions (RFC 9112 section 7.1.1) as far as the end of the line delimits them. */
const chunkSizePattern = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[\t \x21-\x7e\x80-\xff]*)?$/

type Part = "data" | "size" | "data-end" | "trailers" | "over" | "malformed"

export class BodyFraming {
  readonly #chunked: boolean
  readonly #writer: BodyWriter | undefined
  #part: Part
  #left: number
  #line = ""
  #trailerBytes = 0

  constructor(framing: Framing, writer?: BodyWriter) {
    this.#chunked = framing._tag === "Chunked"
    this.#writer = writer
    this.#left = framing._tag === "Length" ? framing.bytes : 0
    this.#part = this.#chunked ? "size" : this.#left === 0 ? "over" : "data"
  }

  get over(): boolean {
    return this.#part === "over"
  }

  get malformed(): boolean {
    return this.#part === "malformed"
  }

  /** How many of the bytes belong to the body; the rest is for the reader of what comes after it. */
  take(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && this.#part !== "over" && this.#part !== "malformed") {
      if (this.#part === "data") at = this.#data(bytes, at)
      else at = this.#readPlainLine(bytes, at) ?? this.#readLine(bytes, at)
    }
    return at
  }

  #data(bytes: Buffer, at: number): number {
    const end = at + Math.min(this.#left, bytes.length - at)
    this.#writer?.data(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    this.#left -= end - at
    if (this.#left === 0) this.#part = this.#chunked ? "data-end" : "over"
    return end
  }

  /** The lines of nearly all chunks, whole and without an extension, read without making text of them. */
  #readPlainLine(bytes: Buffer, at: number): number | undefined {
    if (this.#line !== "") return undefined
    if (this.#part === "data-end") {
      if (bytes[at] !== cr || bytes[at + 1] !== lf) return undefined
      this.#dataEnd()
      return at + 2
    }
    if (this.#part !== "size") return undefined
    let size = 0
    let end = at
    while (end - at < maxPlainDigits) {
      const digit = hexDigits[bytes[end] ?? 0] ?? -1
      if (digit < 0) break
      size = size * 16 + digit
      end += 1
    }
    if (end === at || bytes[end] !== cr || bytes[end + 1] !== lf) return undefined
    this.#sized(size)
    return end + 2
  }

  #readLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lf, at)
    const end = found < 0 ? bytes.length : found + 1
    this.#line += bytes.toString("latin1", at, Math.min(end, at + maxLine))
    if (this.#line.length >= maxLine || (this.#part === "data-end" && !"\r\n".startsWith(this.#line))) {
      this.#part = "malformed"
      return end
    }
    if (found < 0) return end
    const line = this.#line.endsWith("\r\n") ? this.#line.slice(0, -2) : undefined
    this.#line = ""
    if (line === undefined) this.#part = "malformed"
    else if (this.#part === "data-end") this.#dataEnd()
    else if (this.#part === "size") this.#size(line)
    else this.#trailer(line)
    return end
  }

  #dataEnd() {
    this.#part = "size"
    this.#writer?.chunkEnd()
  }

  #size(line: string) {
    const size = chunkSizePattern.exec(line)?.[1]
    if (size === undefined) {
      this.#part = "malformed"
      return
    }
    this.#sized(Number.parseInt(size, 16))
  }

  #sized(size: number) {
    this.#left = size
    this.#writer?.chunk(size)
    this.#part = this.#left === 0 ? "trailers" : "data"
  }

  #trailer(line: string) {
    if (line === "") {
      this.#part = "over"
      this.#writer?.trailersEnd()
      return
    }
    const field = parseField(line)
    this.#trailerBytes += line.length
    if (field === undefined || this.#trailerBytes > maxTrailers) this.#part = "malformed"
    else this.#writer?.trailer(field)
  }
}
