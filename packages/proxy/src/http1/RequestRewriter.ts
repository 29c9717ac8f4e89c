/**
 * Follows the requests on one HTTP/1 connection and writes each anew, through keep-alive, bodies with a length, chunked
 * bodies and upgrades. Sans I/O: bytes in, bytes out. What cannot begin a request is another protocol and left as it is,
 * where that is allowed.
 */
import { tokenPattern } from "@catenet/wire/http/FieldLine"
import { Result } from "effect"
import { RequestBody } from "./RequestBody.ts"
import {
  BadRequest,
  checkHost,
  isRequestLine,
  maxHead,
  parse,
  type RequestHead,
  rewrite,
  type Visitor
} from "./RequestHead.ts"

const headEnd = Buffer.from("\r\n\r\n")
const cr = 0x0d
const lf = 0x0a

type Phase =
  | { readonly _tag: "Start" }
  | { readonly _tag: "Head" }
  | { readonly _tag: "Body"; readonly body: RequestBody; readonly most: number | undefined }
  /** The login gate is asked about a request that is kept here. */
  | { readonly _tag: "Asking"; readonly head: RequestHead }
  | { readonly _tag: "Upgrading" }
  | { readonly _tag: "Raw" }
  /** The visitor may say nothing more. */
  | { readonly _tag: "Over" }

/** Every white space that some origin skips before a request line counts as the beginning of one, which is then refused. */
const skippedBytes = new Set([0x09, lf, 0x0b, 0x0c, cr, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0])

/** Whether a connection that begins with this byte may be HTTP. */
const mayBeHttp = (first: number): boolean => skippedBytes.has(first) || tokenPattern.test(String.fromCharCode(first))

/** Why no request can come of what has arrived, which no head ends; what comes before `from` has been looked at. */
const hopeless = (pending: Buffer, from: number): BadRequest | undefined => {
  if (pending.length > maxHead) return new BadRequest({ status: 431, reason: "request head too large" })
  const first = pending.indexOf(lf, from)
  for (let at = first; at >= 0; at = pending.indexOf(lf, at + 1)) {
    if (pending[at - 1] !== cr) return new BadRequest({ status: 400, reason: "a line ends without CR" })
  }
  const isFirstLine = first >= 0 && pending.indexOf(lf) === first
  return isFirstLine && !isRequestLine(pending.toString("latin1", 0, first - 1))
    ? new BadRequest({ status: 400, reason: "malformed request line" })
    : undefined
}

export interface RewriterOptions {
  /** Called for every request; returns whether `answered` will be called for its upgrade. */
  readonly asks: (request: RequestHead, edits: Visitor["edits"]) => boolean
  /** Refuses whatever is no HTTP. */
  readonly httpOnly: boolean
  /** Called for every request; one that it takes is held until `admit` or `turnAway` is called. Absent: nothing is held. */
  readonly gate?: ((request: RequestHead) => boolean) | undefined
}

export class RequestRewriter {
  #phase: Phase = { _tag: "Start" }
  #pending: Buffer = Buffer.alloc(0)
  /** Where `pending` lies once it came in several pieces: it doubles, so that single bytes are not copied again and again. */
  #room: Buffer = Buffer.alloc(0)
  /** So much of `pending` has been searched for the end of the head. */
  #searched = 0
  #requests = 0
  #crumbs = 0
  #refusal: BadRequest | undefined
  /** Of the request that is being read: absent when it does not upgrade, `"asked"` until the origin has answered. */
  #upgrade: "asked" | "accepted" | "refused" | undefined
  #last = false
  readonly #visitor: Visitor
  readonly #options: RewriterOptions

  constructor(visitor: Visitor, options: RewriterOptions) {
    this.#visitor = visitor
    this.#options = options
  }

  /** True while bytes are held until the gate has answered about a request, or the origin about a wish to upgrade. */
  get held(): boolean {
    return this.#phase._tag === "Upgrading" || this.#phase._tag === "Asking"
  }

  /** A whole request head has been seen, so that an answer in HTTP makes sense. */
  get spoke(): boolean {
    return this.#requests > 0
  }

  /** Small chunks that were read since this was asked last. */
  takeCrumbs(): number {
    const crumbs = this.#crumbs
    this.#crumbs = 0
    return crumbs
  }

  /** What the visitor says is no HTTP, or no longer. */
  get isRaw(): boolean {
    return this.#phase._tag === "Raw"
  }

  /**
   * The number of the request whose head has begun and is not whole. Of the first one every byte counts, of the next ones not
   * the empty lines before it.
   */
  get unfinished(): number | undefined {
    const begun = this.#requests === 0 || this.#pending.length > 0
    return this.#phase._tag === "Head" && this.#refusal === undefined && begun ? this.#requests : undefined
  }

  /** A request has begun that is not whole: its head, or its body. */
  get isReading(): boolean {
    return this.#phase._tag === "Body" || this.unfinished !== undefined
  }

  /** The visitor has said something. */
  get hasBegun(): boolean {
    return this.#phase._tag !== "Start" || this.#pending.length > 0
  }

  /** No request is taken behind the one that is being read. */
  endAfterThis() {
    this.#last = true
    if (this.#phase._tag === "Head" && this.unfinished === undefined) this.#phase = { _tag: "Over" }
  }

  /** Why nothing more goes to the origin, and whether the origin has part of the request at fault. */
  get refused(): { readonly why: BadRequest; readonly begun: boolean } | undefined {
    return this.#refusal === undefined ? undefined : { why: this.#refusal, begun: this.#phase._tag === "Body" }
  }

  /** Takes what the visitor sent and returns what goes to the origin, in order; then `refused` may have a value. */
  push(chunk: Buffer): ReadonlyArray<Buffer> {
    this.#append(chunk)
    const out: Array<Buffer> = []
    while (this.#refusal === undefined && this.#step(out));
    if (this.#refusal !== undefined) this.#pending = Buffer.alloc(0)
    return out
  }

  /** The origin answered the upgrade: `accepted` leaves HTTP for good, otherwise requests are followed again. */
  answered(accepted: boolean): ReadonlyArray<Buffer> {
    if (this.#upgrade === "asked") this.#upgrade = accepted ? "accepted" : "refused"
    if (this.#phase._tag === "Upgrading") this.#endRequest()
    return this.push(Buffer.alloc(0))
  }

  /** Forwards the held request with this identity and these edits. */
  admit({ edits, identity }: Pick<Visitor, "edits" | "identity">): ReadonlyArray<Buffer> {
    if (this.#phase._tag !== "Asking") return []
    const { head } = this.#phase
    this.#phase = { _tag: "Head" }
    const out: Array<Buffer> = []
    if (this.#pass(head, { ...this.#visitor, identity, edits }, out)) out.push(...this.push(Buffer.alloc(0)))
    return out
  }

  /** The request that is held does not go on, and nothing after it. */
  turnAway() {
    this.#refuse(new BadRequest({ status: 400, reason: "this request was not let in" }))
  }

  /** The head that is being read took too long. */
  expire() {
    this.#refuse(new BadRequest({ status: 408, reason: "the request head was not complete in time" }))
  }

  #append(chunk: Buffer) {
    const pending = this.#pending
    const room = this.#room
    if (pending.length === 0) {
      this.#pending = chunk
      return
    }
    const length = pending.length + chunk.length
    const start = pending.byteOffset - room.byteOffset
    if (pending.buffer === room.buffer && start + length <= room.length) {
      chunk.copy(room, start + pending.length)
      this.#pending = room.subarray(start, start + length)
    } else {
      this.#room = Buffer.allocUnsafeSlow(Math.max(1_024, length * 2))
      pending.copy(this.#room)
      chunk.copy(this.#room, pending.length)
      this.#pending = this.#room.subarray(0, length)
    }
  }

  /** One move; false when more input is needed. */
  #step(out: Array<Buffer>): boolean {
    const phase = this.#phase
    const pending = this.#pending
    if (pending.length === 0) return false
    switch (phase._tag) {
      case "Upgrading":
      case "Asking":
        return false
      case "Start":
        return this.#start(pending[0] ?? 0)
      case "Raw":
        out.push(pending)
        this.#pending = Buffer.alloc(0)
        return false
      case "Over":
        this.#pending = Buffer.alloc(0)
        return false
      case "Head":
        return this.#head(out)
      case "Body":
        this.#crumbs -= phase.body.crumbs
        this.#pending = pending.subarray(phase.body.take(pending, out))
        this.#crumbs += phase.body.crumbs
        if (phase.body.malformed) return this.#refuse(new BadRequest({ status: 400, reason: "malformed chunk" }))
        if (phase.most !== undefined && phase.body.bytes > phase.most)
          return this.#refuse(new BadRequest({ status: 413, reason: "the body is larger than this service accepts" }))
        if (phase.body.over) this.#endRequest()
        return true
    }
  }

  #refuse(why: BadRequest): false {
    this.#refusal = why
    return false
  }

  #start(first: number): boolean {
    if (mayBeHttp(first)) this.#phase = { _tag: "Head" }
    else if (this.#options.httpOnly)
      return this.#refuse(new BadRequest({ status: 400, reason: "only HTTP is served here" }))
    else this.#phase = { _tag: "Raw" }
    return true
  }

  /** Empty lines before a request are skipped (RFC 9112 section 2.2). */
  #skipEmptyLines() {
    let at = 0
    while (this.#pending[at] === cr && this.#pending[at + 1] === lf) at += 2
    if (at > 0) this.#pending = this.#pending.subarray(at)
  }

  #head(out: Array<Buffer>): boolean {
    this.#skipEmptyLines()
    if (this.#pending.length === 0) return false
    const end = this.#pending.indexOf(headEnd, Math.max(0, this.#searched - headEnd.length))
    if (end < 0) {
      const why = hopeless(this.#pending, this.#searched)
      this.#searched = this.#pending.length
      return why === undefined ? false : this.#refuse(why)
    }
    this.#searched = 0
    if (end > maxHead) return this.#refuse(new BadRequest({ status: 431, reason: "request head too large" }))
    const parsed = parse(this.#pending.toString("latin1", 0, end), this.#visitor.isProxy !== undefined)
    if (Result.isFailure(parsed)) return this.#refuse(parsed.failure)
    this.#pending = this.#pending.subarray(end + headEnd.length)
    const { gate } = this.#options
    if (gate === undefined) return this.#pass(parsed.success, this.#visitor, out)
    const misdirected = checkHost(parsed.success, this.#visitor)
    if (Result.isFailure(misdirected)) return this.#refuse(misdirected.failure)
    if (!gate(parsed.success)) return this.#pass(parsed.success, this.#visitor, out)
    this.#phase = { _tag: "Asking", head: parsed.success }
    return false
  }

  #pass(head: RequestHead, visitor: Visitor, out: Array<Buffer>): boolean {
    const rewritten = rewrite(head, visitor)
    if (Result.isFailure(rewritten)) return this.#refuse(rewritten.failure)
    this.#requests += 1
    out.push(rewritten.success)
    this.#begin(head, visitor.edits)
    return true
  }

  #begin(head: RequestHead, edits: Visitor["edits"]) {
    this.#last = head.last
    this.#upgrade = this.#options.asks(head, edits) ? "asked" : undefined
    const body = new RequestBody(head.framing)
    if (body.over) this.#endRequest()
    else this.#phase = { _tag: "Body", body, most: edits?.maxBody }
  }

  /** The request is whole. Only now may a visitor that upgrades change the protocol (RFC 9110 section 7.8). */
  #endRequest() {
    if (this.#upgrade === "asked") this.#phase = { _tag: "Upgrading" }
    else if (this.#upgrade === "accepted") this.#phase = { _tag: "Raw" }
    else this.#phase = { _tag: this.#last ? "Over" : "Head" }
  }
}
