/**
 * Follows the requests on one HTTP/1 connection and rewrites each head, through keep-alive, bodies with a length,
 * chunked bodies and upgrades. Sans I/O: bytes in, bytes out. What does not begin like HTTP is left as it is.
 */
import { Result } from "effect"
import { BodyEnd } from "./BodyEnd.ts"
import { BadRequest, parse, type RequestHead, rewrite, type Visitor } from "./RequestHead.ts"

const MAX_HEAD = 65_536
const HEAD_END = Buffer.from("\r\n\r\n")

type Phase =
  | { readonly _tag: "Start" }
  | { readonly _tag: "Head" }
  | { readonly _tag: "Body"; readonly body: BodyEnd }
  | { readonly _tag: "Upgrading" }
  | { readonly _tag: "Raw" }

/** Only these can begin an HTTP request, or something a lenient origin might take for one. */
const looksLikeHttp = (first: number) =>
  (first >= 0x41 && first <= 0x5a) ||
  (first >= 0x61 && first <= 0x7a) ||
  first === 0x0d ||
  first === 0x0a ||
  first === 0x20

export class RequestRewriter {
  private phase: Phase = { _tag: "Start" }
  private pending: Buffer = Buffer.alloc(0)
  private requests = 0
  /** Of the request that is being read: absent when it does not upgrade, `"asked"` until the origin has answered. */
  private upgrade: "asked" | "accepted" | "refused" | undefined
  private readonly visitor: Visitor
  private readonly asks: (request: RequestHead) => boolean

  /** `asks` hears of every request; it says whether `answered` will be called for its wish to upgrade. */
  constructor(visitor: Visitor, asks: (request: RequestHead) => boolean) {
    this.visitor = visitor
    this.asks = asks
  }

  /** True while bytes are held until the origin has answered a request to upgrade. */
  get held(): boolean {
    return this.phase._tag === "Upgrading"
  }

  /** A whole request head has been seen, so that an answer in HTTP makes sense. */
  get spoke(): boolean {
    return this.requests > 0
  }

  /** Takes what the visitor sent and returns what goes to the origin, in order. */
  push(chunk: Buffer): Result.Result<ReadonlyArray<Buffer>, BadRequest> {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk])
    const out: Array<Buffer> = []
    for (;;) {
      const step = this.step(out)
      if (Result.isFailure(step)) return Result.fail(step.failure)
      if (!step.success) return Result.succeed(out)
    }
  }

  /** The origin answered the upgrade: `accepted` leaves HTTP for good, otherwise requests are followed again. */
  answered(accepted: boolean): Result.Result<ReadonlyArray<Buffer>, BadRequest> {
    if (this.upgrade === "asked") this.upgrade = accepted ? "accepted" : "refused"
    if (this.held) this.endRequest()
    return this.push(Buffer.alloc(0))
  }

  /** One move; false when more input is needed. */
  private step(out: Array<Buffer>): Result.Result<boolean, BadRequest> {
    const { phase, pending } = this
    if (pending.length === 0) return Result.succeed(false)
    switch (phase._tag) {
      case "Upgrading":
        return Result.succeed(false)
      case "Start":
        this.phase = { _tag: looksLikeHttp(pending[0] ?? 0) ? "Head" : "Raw" }
        return Result.succeed(true)
      case "Raw":
        this.emit(out, pending.length)
        return Result.succeed(false)
      case "Head":
        return this.head(out)
      case "Body":
        this.emit(out, phase.body.take(pending))
        if (phase.body.malformed) return fail(400, "malformed chunk")
        if (phase.body.over) this.endRequest()
        return Result.succeed(true)
    }
  }

  private emit(out: Array<Buffer>, bytes: number) {
    if (bytes > 0) out.push(this.pending.subarray(0, bytes))
    this.pending = this.pending.subarray(bytes)
  }

  private head(out: Array<Buffer>): Result.Result<boolean, BadRequest> {
    const end = this.pending.indexOf(HEAD_END)
    if (end < 0 && this.pending.length <= MAX_HEAD) return Result.succeed(false)
    if (end < 0 || end > MAX_HEAD) return fail(431, "request head too large")
    return parse(this.pending.toString("latin1", 0, end)).pipe(
      Result.flatMap((head) => Result.map(rewrite(head, this.visitor), (bytes) => ({ head, bytes }))),
      Result.map(({ head, bytes }) => {
        this.pending = this.pending.subarray(end + HEAD_END.length)
        this.requests += 1
        out.push(bytes)
        this.upgrade = this.asks(head) ? "asked" : undefined
        const body = new BodyEnd(head.framing)
        if (body.over) this.endRequest()
        else this.phase = { _tag: "Body", body }
        return true
      })
    )
  }

  /** The request is whole. Only now may a visitor that upgrades change the protocol (RFC 9110 section 7.8). */
  private endRequest() {
    this.phase = { _tag: this.upgrade === "asked" ? "Upgrading" : this.upgrade === "accepted" ? "Raw" : "Head" }
  }
}

const fail = (status: BadRequest["status"], reason: string) => Result.fail(new BadRequest({ status, reason }))
