/**
 * Follows what an origin answers on one HTTP/1 connection (RFC 9112 section 6.3), to know whether it accepted a request to
 * upgrade, be it the first one or a later one. Sans I/O; it changes no byte. What it does not understand it lets pass, and
 * looks no further.
 */
import { BodyFraming, type Framing } from "./BodyFraming.ts"

/** A request that went to the origin. */
export interface TrackedRequest {
  readonly method: string
  /** It wishes to leave HTTP/1. */
  readonly upgrade: boolean
}

/** Bytes of the longest head that is followed. */
const maxHead = 65_536
const headEnd = Buffer.from("\r\n\r\n")
const nothing = Buffer.alloc(0)
const statusLinePattern = /^HTTP\/1\.[01] (\d{3})(?: |$)/

type Phase =
  | { readonly _tag: "Head" }
  | { readonly _tag: "Body"; readonly body: BodyFraming }
  /** Until the connection ends: another protocol, a body without an end of its own, or not HTTP at all. */
  | { readonly _tag: "Rest" }

interface Head {
  readonly status: number
  /** Absent: until the connection ends. */
  readonly framing: Framing | undefined
}

const framingField = /\r\n(transfer-encoding|content-length):((?:[^\r]|\r(?!\n))*)/gi

const parse = (text: string): Head | undefined => {
  const end = text.indexOf("\r\n")
  const status = statusLinePattern.exec(end < 0 ? text : text.slice(0, end))?.[1]
  if (status === undefined) return undefined
  let [encodings, length]: [string | undefined, string | undefined] = [undefined, undefined]
  let hasOneLength = true
  for (const [, name = "", untrimmed = ""] of end < 0 ? [] : text.matchAll(framingField)) {
    const value = untrimmed.trim()
    if (name.length === "transfer-encoding".length) encodings = value
    else if (length === undefined) length = value
    else hasOneLength &&= length === value
  }
  if (encodings !== undefined) {
    const isChunked = encodings.toLowerCase().endsWith("chunked")
    return { status: Number(status), framing: isChunked ? { _tag: "Chunked" } : undefined }
  }
  const isKnown = length !== undefined && hasOneLength && /^\d{1,15}$/.test(length)
  return { status: Number(status), framing: isKnown ? { _tag: "Length", bytes: Number(length) } : undefined }
}

/** A head is often followed twice: by the relay, and by the proxy before it. */
let last: { readonly bytes: Buffer; readonly end: number; readonly head: Head | undefined } | undefined

const headOf = (bytes: Buffer, end: number) => {
  if (last?.bytes !== bytes || last.end !== end) last = { bytes, end, head: parse(bytes.toString("latin1", 0, end)) }
  return last.head
}

const isBodyless = (method: string, status: number) => method === "HEAD" || status === 204 || status === 304

type OnPiece = (piece: Buffer, request?: TrackedRequest) => void

export class ResponseTracker {
  #phase: Phase = { _tag: "Head" }
  #pending: Buffer = nothing
  readonly #asked: Array<TrackedRequest> = []
  #verdict: boolean | undefined
  #onPiece: OnPiece | undefined

  /** The origin still has to answer, as far as that is known. */
  get busy(): boolean {
    return this.#asked.length > 0 || this.#phase._tag === "Body"
  }

  /** Requests without a whole answer, as far as answers can be delimited. */
  get unanswered(): number {
    return this.#asked.length + (this.#phase._tag === "Body" ? 1 : 0)
  }

  /** What the origin says now ends with the connection alone. */
  get isEndless(): boolean {
    return this.#phase._tag === "Rest"
  }

  /** Requests that have no whole answer head yet. */
  get owed(): number {
    return this.#asked.length
  }

  /** No answer has begun that has not ended; false for good once answers can no longer be delimited. */
  get between(): boolean {
    return this.#phase._tag === "Head" && this.#pending.length === 0
  }

  /** Every request that is known has its whole answer. */
  get isWhole(): boolean {
    return this.between && this.#asked.length === 0
  }

  /** Notes a request. True when `push` will tell whether it may leave HTTP/1. */
  asks(request: TrackedRequest): boolean {
    if (this.#phase._tag === "Rest") return false
    this.#asked.push(request)
    return request.upgrade
  }

  /** Bytes of a head that is not whole. */
  get pendingBytes(): number {
    return this.#pending.length
  }

  /** From now on gives what `push` takes to `onPiece`, piece by piece, the final head of each answer with its request. */
  follow(onPiece: OnPiece): void {
    this.#onPiece = onPiece
  }

  /** Takes what the origin said; whether it accepted the upgrade that waits, once that is known. */
  push(chunk: Buffer): boolean | undefined {
    let bytes = chunk
    while (bytes.length > 0 && this.#phase._tag !== "Rest") bytes = this.#step(this.#phase, bytes)
    if (bytes.length > 0) this.#onPiece?.(bytes)
    const verdict = this.#verdict
    this.#verdict = undefined
    return verdict
  }

  #step(phase: Extract<Phase, { readonly _tag: "Head" | "Body" }>, bytes: Buffer): Buffer {
    if (phase._tag === "Head") return this.#head(bytes)
    const taken = phase.body.take(bytes)
    this.#onPiece?.(bytes.subarray(0, taken))
    if (phase.body.malformed) this.#giveUp()
    else if (phase.body.over) this.#phase = { _tag: "Head" }
    return bytes.subarray(taken)
  }

  #head(bytes: Buffer): Buffer {
    const text = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    const end = text.indexOf(headEnd)
    if (end < 0 && text.length <= maxHead && "HTTP/1.".startsWith(text.toString("latin1", 0, 7))) {
      this.#pending = text
      return nothing
    }
    this.#pending = nothing
    const head = end < 0 ? undefined : headOf(text, end)
    const [request] = this.#asked
    if (head === undefined || request === undefined) {
      this.#giveUp()
      return text
    }
    this.#onPiece?.(text.subarray(0, end + headEnd.length), head.status < 200 ? undefined : request)
    this.#answered(request, head)
    return text.subarray(end + headEnd.length)
  }

  #answered({ method, upgrade }: TrackedRequest, { framing, status }: Head) {
    if (status < 200 && status !== 101) return
    this.#asked.shift()
    if (upgrade) this.#verdict = status === 101
    if (status === 101 || (framing === undefined && !isBodyless(method, status))) return this.#giveUp()
    if (framing === undefined || isBodyless(method, status)) return undefined
    const body = new BodyFraming(framing)
    if (!body.over) this.#phase = { _tag: "Body", body }
    return undefined
  }

  /** The requests that still wait can no longer be matched with answers. */
  #giveUp() {
    this.#phase = { _tag: "Rest" }
    if (this.#asked.some(({ upgrade }) => upgrade)) this.#verdict ??= false
    this.#asked.length = 0
  }
}
