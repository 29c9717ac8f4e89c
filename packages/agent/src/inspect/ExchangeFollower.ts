/**
 * Follows one HTTP/1.1 connection to the origin and records its requests with their responses. Sans I/O: it gets the bytes that pass,
 * changes none of them and keeps none but those it records. What it does not understand it follows no further.
 */
import { BodyFraming, type BodyWriter, type Framing } from "@catenet/wire/http/BodyFraming"
import type { Recorded } from "./Exchange.ts"
import type { Recording } from "./Recording.ts"

const headEnd = Buffer.from("\r\n\r\n")
const nothing = Buffer.alloc(0)
const maxHead = 65_536
const space = 0x20
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) [^\r\n]+ HTTP\/1\.[01]\r?$/u
const statusLine = /^HTTP\/1\.[01] (\d{3})/u
const framingField = /\r\n(transfer-encoding|content-length):[ \t]*([^\r]*)/giu

/** How the body behind this head ends; undefined where no field says it. */
const framingOf = (head: string): Framing | "endless" | undefined => {
  let framing: Framing | "endless" | undefined
  framingField.lastIndex = 0
  for (let field = framingField.exec(head); field !== null; field = framingField.exec(head)) {
    const [, name = "", value = ""] = field
    if (name.length === "transfer-encoding".length)
      return value.trim().toLowerCase().endsWith("chunked") ? { _tag: "Chunked" } : "endless"
    framing = /^\d{1,15}[ \t]*$/u.test(value) ? { _tag: "Length", bytes: Number(value) } : "endless"
  }
  return framing
}

type Phase = "head" | "body" | "rest" | "lost"
const ignore = () => {}

/** One direction: heads, and bodies behind them. */
class Direction {
  phase: Phase = "head"
  pending: Buffer = nothing
  /** Of a body in chunks; else {@link #left} counts. */
  #framing: BodyFraming | undefined
  #left = 0
  readonly #onHead: (head: Buffer, text: string) => void
  readonly #onEnd: () => unknown
  readonly #writer: BodyWriter
  readonly #onData: (bytes: Buffer) => unknown

  constructor(onHead: (head: Buffer, text: string) => void, onData: (bytes: Buffer) => unknown, onEnd: () => unknown) {
    this.#onHead = onHead
    this.#onData = onData
    this.#onEnd = onEnd
    this.#writer = {
      data: (bytes) => void onData(bytes),
      chunk: ignore,
      chunkEnd: ignore,
      trailer: ignore,
      trailersEnd: ignore
    }
  }

  push(chunk: Buffer): void {
    let bytes = chunk
    while (bytes.length > 0 && this.phase !== "lost") {
      if (this.phase === "rest") return void this.#onData(bytes)
      if (this.phase === "head") bytes = this.#head(bytes)
      else bytes = this.#body(bytes)
    }
  }

  /** A body follows the head that was just read. */
  expect(framing: Framing | "endless"): void {
    if (framing === "endless") {
      this.phase = "rest"
      return
    }
    this.phase = "body"
    if (framing._tag === "Chunked") this.#framing = new BodyFraming(framing, this.#writer)
    else {
      this.#left = framing.bytes
      if (this.#left === 0) this.#over()
    }
  }

  #over() {
    this.phase = "head"
    this.#framing = undefined
    this.#onEnd()
  }

  #body(bytes: Buffer): Buffer {
    const framing = this.#framing
    if (framing === undefined) {
      const isLast = bytes.length >= this.#left
      const body = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
      this.#left -= body.length
      this.#onData(body)
      if (isLast) this.#over()
      return bytes.length === body.length ? nothing : bytes.subarray(body.length)
    }
    const taken = framing.take(bytes)
    if (framing.malformed) this.phase = "lost"
    else if (framing.over) this.#over()
    return bytes.subarray(taken)
  }

  #head(chunk: Buffer): Buffer {
    const bytes = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk])
    const end = bytes.indexOf(headEnd)
    if (end < 0) {
      // What begins with a control character, such as a TLS record, is another protocol.
      if (bytes.length > maxHead || (bytes[0] ?? 0) < space) this.phase = "lost"
      this.pending = this.phase === "lost" ? nothing : bytes
      return nothing
    }
    this.pending = nothing
    const head = bytes.subarray(0, end)
    this.#onHead(head, head.toString("latin1"))
    return bytes.length === end + headEnd.length ? nothing : bytes.subarray(end + headEnd.length)
  }
}

export class ExchangeFollower {
  readonly #recording: Recording
  #visit: Recorded
  #asked: number | undefined
  /** Requests without a whole response, in their order. */
  readonly #waiting: Array<{ readonly id: number; readonly method: string }> = []
  readonly #requests: Direction
  readonly #responses: Direction
  #onEnd: (() => void) | undefined

  constructor(recording: Recording, visit: Recorded) {
    this.#recording = recording
    this.#visit = visit
    this.#requests = new Direction(
      (head, text) => this.#request(head, text),
      (bytes) => this.#asked !== undefined && recording.append(this.#asked, "request", bytes),
      () => this.#asked !== undefined && recording.sent(this.#asked)
    )
    this.#responses = new Direction(
      (head, text) => this.#response(head, text),
      (bytes) => this.#waiting[0] !== undefined && recording.append(this.#waiting[0].id, "response", bytes),
      () => this.#whole()
    )
  }

  /** The number of the request that began last. */
  get last(): number | undefined {
    return this.#asked
  }

  /** Calls back once, when the request that began last has its whole response, or never will. */
  whenOver(over: () => void): void {
    this.#onEnd = over
  }

  /** Bytes on their way to the origin. */
  requested(chunk: Buffer): void {
    this.#requests.push(chunk)
  }

  /** Bytes from the origin. */
  responded(chunk: Buffer): void {
    this.#responses.push(chunk)
  }

  /** The origin could not be reached. */
  failed(why: string): void {
    for (const { id } of this.#waiting) this.#recording.fail(id, why)
    this.closed(false)
  }

  /** The origin said its last, in order or not. */
  closed(inOrder: boolean): void {
    const isWhole = inOrder && this.#responses.phase === "rest"
    for (const { id } of this.#waiting.splice(0)) this.#recording.finish(id, !isWhole, inOrder)
    this.#requests.phase = "lost"
    this.#responses.phase = "lost"
    this.#over()
  }

  #over() {
    const over = this.#onEnd
    this.#onEnd = undefined
    over?.()
  }

  #request(head: Buffer, text: string) {
    const end = text.indexOf("\r\n")
    const method = requestLine.exec(end < 0 ? text : text.slice(0, end))?.[1]
    if (method === undefined) {
      this.#requests.phase = "lost"
      return
    }
    const id = this.#recording.begin(this.#visit, head)
    this.#asked = id
    if (this.#visit.connectMillis !== undefined) this.#visit = { ...this.#visit, connectMillis: undefined }
    this.#waiting.push({ id, method })
    this.#requests.expect(framingOf(text) ?? { _tag: "Length", bytes: 0 })
  }

  #response(head: Buffer, text: string) {
    const [first] = this.#waiting
    const status = Number(statusLine.exec(text)?.[1])
    if (first === undefined || Number.isNaN(status)) {
      this.#responses.phase = "lost"
      return
    }
    if (status < 200 && status !== 101) return
    const { id, method } = first
    this.#recording.respond(id, head)
    if (status === 101) {
      this.#recording.upgrade(id)
      this.#requests.phase = "rest"
      this.#responses.phase = "rest"
      this.#requests.push(this.#requests.pending)
    } else if (method === "HEAD" || status === 204 || status === 304) this.#whole()
    else this.#responses.expect(framingOf(text) ?? "endless")
  }

  #whole() {
    const over = this.#waiting.shift()
    if (over === undefined) return
    this.#recording.finish(over.id, false)
    if (this.#waiting.length === 0) this.#over()
  }
}
