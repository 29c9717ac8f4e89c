/**
 * The body of a request on its way to the origin, whatever pieces it comes in (RFC 9112 sections 6.2 and 7.1). The sizes of
 * chunks and the trailers are written anew from what was read: extensions are left out, and trailers that no origin should
 * believe. What two parsers could read differently is malformed.
 */
import type { Framing } from "./BodyEnd.ts"
import { parseField } from "./FieldLine.ts"
import { isTrailer } from "./FieldNames.ts"

const MAX_LINE = 4_096
const MAX_TRAILERS = 16_384
const LF = 0x0a
const CRLF = Buffer.from("\r\n")
/** Extensions (RFC 9112 section 7.1.1) as far as they can be told from the end of the line. */
const SIZE = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[\t \x21-\x7e\x80-\xff]*)?$/

type Part = "data" | "size" | "data-end" | "trailers" | "over" | "malformed"

export class RequestBody {
  private readonly chunked: boolean
  private part: Part
  private left: number
  private line = ""
  private trailerBytes = 0

  constructor(framing: Framing) {
    this.chunked = framing._tag === "Chunked"
    this.left = framing._tag === "Length" ? framing.bytes : 0
    this.part = this.chunked ? "size" : this.left === 0 ? "over" : "data"
  }

  get over(): boolean {
    return this.part === "over"
  }

  get malformed(): boolean {
    return this.part === "malformed"
  }

  /** Adds to `out` what goes to the origin; returns how many of the bytes belonged to the body. */
  take(bytes: Buffer, out: Array<Buffer>): number {
    let at = 0
    while (at < bytes.length && this.part !== "over" && this.part !== "malformed") {
      at = this.part === "data" ? this.data(bytes, at, out) : this.readLine(bytes, at, out)
    }
    return at
  }

  private data(bytes: Buffer, at: number, out: Array<Buffer>): number {
    const end = at + Math.min(this.left, bytes.length - at)
    out.push(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    this.left -= end - at
    if (this.left === 0) this.part = this.chunked ? "data-end" : "over"
    return end
  }

  private readLine(bytes: Buffer, at: number, out: Array<Buffer>): number {
    const found = bytes.indexOf(LF, at)
    const end = found < 0 ? bytes.length : found + 1
    this.line += bytes.toString("latin1", at, Math.min(end, at + MAX_LINE))
    if (this.line.length >= MAX_LINE || (this.part === "data-end" && !"\r\n".startsWith(this.line))) {
      this.part = "malformed"
      return end
    }
    if (found < 0) return end
    const line = this.line.endsWith("\r\n") ? this.line.slice(0, -2) : undefined
    this.line = ""
    if (line === undefined) this.part = "malformed"
    else if (this.part === "data-end") this.dataEnd(line, out)
    else if (this.part === "size") this.size(line, out)
    else this.trailer(line, out)
    return end
  }

  private dataEnd(line: string, out: Array<Buffer>) {
    this.part = line === "" ? "size" : "malformed"
    if (line === "") out.push(CRLF)
  }

  private size(line: string, out: Array<Buffer>) {
    const size = SIZE.exec(line)?.[1]
    if (size === undefined) {
      this.part = "malformed"
      return
    }
    this.left = Number.parseInt(size, 16)
    out.push(Buffer.from(`${this.left.toString(16)}\r\n`, "latin1"))
    this.part = this.left === 0 ? "trailers" : "data"
  }

  private trailer(line: string, out: Array<Buffer>) {
    if (line === "") {
      out.push(CRLF)
      this.part = "over"
      return
    }
    const field = parseField(line)
    this.trailerBytes += line.length
    if (field === undefined || this.trailerBytes > MAX_TRAILERS) this.part = "malformed"
    else if (isTrailer(field.key)) out.push(Buffer.from(`${field.name}: ${field.value}\r\n`, "latin1"))
  }
}
