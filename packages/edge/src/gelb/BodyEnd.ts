/**
 * Finds where the body of an HTTP/1 message ends (RFC 9112 sections 6.2 and 7.1), whatever pieces it comes in. It changes
 * nothing and keeps no more than one line. What two parsers could read differently is malformed.
 */

/** How the body behind a head is delimited. */
export type Framing = { readonly _tag: "Length"; readonly bytes: number } | { readonly _tag: "Chunked" }

const MAX_LINE = 4_096
const CR = 0x0d
const LF = 0x0a
const SIZE = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[^\r\n\0]*)?$/
const TRAILER = /^[^\r\n\0]*$/

type Part = "data" | "size" | "data-end" | "trailers" | "over" | "malformed"

export class BodyEnd {
  private readonly chunked: boolean
  private part: Part
  private left: number
  private line = ""

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

  /** How many of the bytes belong to the body; the rest is for whoever reads what comes after it. */
  take(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && this.part !== "over" && this.part !== "malformed") {
      if (this.part === "data") at = this.skip(bytes, at)
      else if (this.part === "data-end") at = this.lineEnd(bytes, at)
      else at = this.readLine(bytes, at)
    }
    return at
  }

  private skip(bytes: Buffer, at: number): number {
    const taken = Math.min(this.left, bytes.length - at)
    this.left -= taken
    if (this.left === 0) this.part = this.chunked ? "data-end" : "over"
    return at + taken
  }

  private lineEnd(bytes: Buffer, at: number): number {
    const expected = this.line === "" ? CR : LF
    if (bytes[at] !== expected) this.part = "malformed"
    else if (expected === CR) this.line = "\r"
    else this.begin("size")
    return at + 1
  }

  private readLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(LF, at)
    const end = found < 0 ? bytes.length : found + 1
    if (this.line.length + end - at > MAX_LINE) this.part = "malformed"
    else this.line += bytes.toString("latin1", at, end)
    if (found >= 0 && this.part !== "malformed") this.judge()
    return end
  }

  private judge() {
    const line = this.line.slice(0, -2)
    if (!this.line.endsWith("\r\n")) this.part = "malformed"
    else if (this.part === "trailers") this.judgeTrailer(line)
    else this.judgeSize(line)
  }

  private judgeTrailer(line: string) {
    if (!TRAILER.test(line)) this.part = "malformed"
    else this.begin(line === "" ? "over" : "trailers")
  }

  private judgeSize(line: string) {
    const size = SIZE.exec(line)?.[1]
    if (size === undefined) {
      this.part = "malformed"
      return
    }
    this.left = Number.parseInt(size, 16)
    this.begin(this.left === 0 ? "trailers" : "data")
  }

  private begin(part: Part) {
    this.part = part
    this.line = ""
  }
}
