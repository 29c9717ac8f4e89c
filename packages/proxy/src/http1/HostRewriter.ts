/**
 * Gives each request on one HTTP/1 connection to an origin another Host field, for services that refuse names they do not know. It
 * is to be told what the origin says too, because after an accepted upgrade the bytes are another protocol's. What it does not
 * understand it lets pass, and looks no further. Sans I/O.
 */
import { BodyFraming, type Framing } from "@catenet/wire/http/BodyFraming"
import { ResponseTracker } from "@catenet/wire/http/ResponseTracker"
import { maxHead } from "./RequestHead.ts"

const headEnd = Buffer.from("\r\n\r\n")
const nothing = Buffer.alloc(0)
const requestLine = /^([A-Z-]{1,32}) [^ \r\n]+ HTTP\/1\.[01](?:\r\n|\r?$)/
/** As much of a request line as has come. */
const beginning = /^[A-Z-]{1,32}(?: (?:[^ \r\n]+(?: (?:H(?:T(?:T(?:P(?:\/(?:1(?:\.)?)?)?)?)?)?)?)?)?)?$/
const fields = /\r\n(host|content-length|transfer-encoding|upgrade):((?:[^\r]|\r(?!\n))*)/gi

type Phase = "head" | "body" | "raw"

export class HostRewriter {
  readonly #line: string
  readonly #answers = new ResponseTracker()
  #phase: Phase = "head"
  #pending: Buffer = nothing
  #body: BodyFraming | undefined

  constructor(host: string) {
    this.#line = `\r\nHost: ${host}`
  }

  /** Takes bytes for the origin, and returns those that can go. */
  push(chunk: Buffer): Buffer {
    if (this.#phase === "raw") return chunk
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    this.#pending = nothing
    const out: Array<Buffer> = []
    while (rest.length > 0) {
      const taken = this.#take(rest, out)
      if (taken === 0) break
      rest = rest.subarray(taken)
    }
    return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out)
  }

  /** The client ends: what it has left of a head. */
  flush(): Buffer {
    const rest = this.#pending
    this.#pending = nothing
    return rest
  }

  /** Takes what the origin says. */
  answered(chunk: Buffer): void {
    if (this.#phase === "raw") return
    if (this.#answers.push(chunk) === true) this.#phase = "raw"
  }

  #take(bytes: Buffer, out: Array<Buffer>): number {
    if (this.#phase === "head") return this.#head(bytes, out)
    if (this.#phase !== "body" || this.#body === undefined) return this.#pass(bytes, out)
    const taken = this.#body.take(bytes)
    if (this.#body.malformed) return this.#pass(bytes, out)
    if (this.#body.over) this.#phase = "head"
    out.push(bytes.subarray(0, taken))
    return taken
  }

  #pass(bytes: Buffer, out: Array<Buffer>): number {
    this.#phase = "raw"
    out.push(bytes)
    return bytes.length
  }

  #head(bytes: Buffer, out: Array<Buffer>): number {
    const end = bytes.indexOf(headEnd)
    if (end < 0) {
      const text = bytes.toString("latin1", 0, maxHead)
      if (bytes.length > maxHead || !(requestLine.test(text) || beginning.test(text))) return this.#pass(bytes, out)
      this.#pending = bytes
      return 0
    }
    const head = bytes.toString("latin1", 0, end)
    const method = requestLine.exec(head)?.[1]
    if (method === undefined) return this.#pass(bytes, out)
    const { framing, hasUpgrade, named } = this.#read(head)
    if (framing === undefined) return this.#pass(bytes, out)
    out.push(Buffer.from(`${named}\r\n\r\n`, "latin1"))
    this.#answers.asks({ method, upgrade: hasUpgrade })
    this.#body = new BodyFraming(framing)
    this.#phase = this.#body.over ? "head" : "body"
    return end + headEnd.length
  }

  /** `framing` is absent where two parsers could read it differently. */
  #read(head: string) {
    const lengths: Array<string> = []
    let encoding: string | undefined
    let hasUpgrade = false
    let hasHost = false
    const named = head.replaceAll(fields, (line: string, name: string, value: string) => {
      switch (name.toLowerCase()) {
        case "host": {
          if (hasHost) return ""
          hasHost = true
          return this.#line
        }
        case "content-length":
          lengths.push(value.trim())
          break
        case "transfer-encoding":
          encoding = encoding === undefined ? value.trim().toLowerCase() : ""
          break
        default:
          hasUpgrade = true
      }
      return line
    })
    return { framing: framingOf(encoding, lengths), hasUpgrade, named: hasHost ? named : named + this.#line }
  }
}

/** Undefined where two parsers could read it differently. */
export const framingOf = (
  encoding: string | undefined,
  [length = "0", ...more]: ReadonlyArray<string>
): Framing | undefined => {
  if (more.length > 0 || !/^\d{1,15}$/.test(length)) return undefined
  if (encoding === undefined) return { _tag: "Length", bytes: Number(length) }
  return encoding === "chunked" && length === "0" ? { _tag: "Chunked" } : undefined
}
