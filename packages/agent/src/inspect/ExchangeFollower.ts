/**
 * Follows one HTTP/1.1 connection to the origin and records its requests with their responses. Sans I/O: it gets the bytes that pass,
 * changes none of them and keeps none but those it records. What it does not understand it follows no further.
 */
import { BodyFraming, type BodyWriter, type Framing } from "@catenet/wire/http/BodyFraming"
import type { Body, Exchange, Recorded, Recording } from "./Recording.ts"

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
  for (const [, name = "", value = ""] of head.matchAll(framingField)) {
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
  #framing: BodyFraming | undefined
  readonly #onHead: (head: Buffer, text: string) => void
  readonly #onEnd: () => void
  readonly #writer: BodyWriter
  readonly #onData: (bytes: Buffer) => void

  constructor(onHead: (head: Buffer, text: string) => void, onData: (bytes: Buffer) => void, onEnd: () => void) {
    this.#onHead = onHead
    this.#onData = onData
    this.#onEnd = onEnd
    this.#writer = { data: onData, chunk: ignore, chunkEnd: ignore, trailer: ignore, trailersEnd: ignore }
  }

  push(chunk: Buffer): void {
    let bytes = chunk
    while (bytes.length > 0 && this.phase !== "lost") {
      if (this.phase === "rest") return this.#onData(bytes)
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
    this.#framing = new BodyFraming(framing, this.#writer)
    this.phase = "body"
    if (this.#framing.over) this.#over()
  }

  #over() {
    this.phase = "head"
    this.#framing = undefined
    this.#onEnd()
  }

  #body(bytes: Buffer): Buffer {
    const taken = this.#framing?.take(bytes) ?? 0
    if (this.#framing?.malformed !== false) this.phase = "lost"
    else if (this.#framing.over) this.#over()
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
    return bytes.subarray(end + headEnd.length)
  }
}

export class ExchangeFollower {
  readonly #recording: Recording
  #visit: Recorded
  #asked: Exchange | undefined
  /** Requests without a whole response, in their order. */
  readonly #waiting: Array<{ readonly exchange: Exchange; readonly method: string }> = []
  readonly #requests: Direction
  readonly #responses: Direction
  #onEnd: (() => void) | undefined

  constructor(recording: Recording, visit: Recorded) {
    this.#recording = recording
    this.#visit = visit
    const add = (of: (exchange: Exchange) => Body, exchange: Exchange | undefined, bytes: Buffer) => {
      if (exchange !== undefined) recording.append(exchange, of(exchange), bytes)
    }
    this.#requests = new Direction(
      (head, text) => this.#request(head, text),
      (bytes) => add(({ requestBody }) => requestBody, this.#asked, bytes),
      () => {
        if (this.#asked !== undefined) this.#asked.requestEnd = this.#asked.now()
      }
    )
    this.#responses = new Direction(
      (head, text) => this.#response(head, text),
      (bytes) => add(({ responseBody }) => responseBody, this.#waiting[0]?.exchange, bytes),
      () => this.#whole()
    )
  }

  /** The request that began last. */
  get last(): Exchange | undefined {
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
    for (const { exchange } of this.#waiting) exchange.failure = why
    this.closed(false)
  }

  /** The origin said its last, in order or not. */
  closed(inOrder: boolean): void {
    const isWhole = inOrder && this.#responses.phase === "rest"
    for (const { exchange } of this.#waiting.splice(0)) {
      this.#recording.finish(exchange, !(isWhole || (inOrder && exchange.isUpgraded)))
    }
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
    this.#asked = this.#recording.begin(this.#visit, head)
    if (this.#visit.connectMillis !== undefined) this.#visit = { ...this.#visit, connectMillis: undefined }
    this.#waiting.push({ exchange: this.#asked, method })
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
    const { exchange, method } = first
    this.#recording.respond(exchange, head)
    if (status === 101) {
      exchange.isUpgraded = true
      this.#requests.phase = "rest"
      this.#responses.phase = "rest"
      this.#requests.push(this.#requests.pending)
    } else if (method === "HEAD" || status === 204 || status === 304) this.#whole()
    else this.#responses.expect(framingOf(text) ?? "endless")
  }

  #whole() {
    const over = this.#waiting.shift()
    if (over === undefined) return
    this.#recording.finish(over.exchange, false)
    if (this.#waiting.length === 0) this.#over()
  }
}
