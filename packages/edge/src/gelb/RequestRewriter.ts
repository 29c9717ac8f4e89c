/**
 * Follows the requests on one HTTP/1 connection and rewrites each head, through keep-alive, bodies with a length,
 * chunked bodies and an upgrade. Sans I/O: bytes in, bytes out. What does not begin like HTTP is left as it is.
 */
import { Result } from "effect"
import { BadRequest, type Framing, parse, rewrite, type Visitor } from "./RequestHead.ts"

const MAX_HEAD = 65_536
const MAX_CHUNK_LINE = 4_096
const HEAD_END = Buffer.from("\r\n\r\n")
const LINE_END = Buffer.from("\r\n")

type Phase =
  | { readonly _tag: "Start" }
  | { readonly _tag: "Head" }
  | { readonly _tag: "Body"; readonly left: number; readonly chunked: boolean }
  | { readonly _tag: "ChunkSize" }
  | { readonly _tag: "ChunkEnd" }
  | { readonly _tag: "Trailers" }
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
  private readonly visitor: Visitor

  constructor(visitor: Visitor) {
    this.visitor = visitor
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
    if (this.held) this.phase = accepted ? { _tag: "Raw" } : { _tag: "Head" }
    return this.push(Buffer.alloc(0))
  }

  /** One move; false when more input is needed. */
  private step(out: Array<Buffer>): Result.Result<boolean, BadRequest> {
    const { phase, pending } = this
    if (pending.length === 0 || phase._tag === "Upgrading") return Result.succeed(false)
    switch (phase._tag) {
      case "Start":
        this.phase = { _tag: looksLikeHttp(pending[0] ?? 0) ? "Head" : "Raw" }
        return Result.succeed(true)
      case "Raw":
        this.emit(out, pending.length)
        return Result.succeed(false)
      case "Body":
        return Result.succeed(this.body(out, phase.left, phase.chunked))
      case "Head":
        return this.head(out)
      case "ChunkSize":
        return this.chunkSize(out)
      case "ChunkEnd":
        return this.chunkEnd(out)
      case "Trailers":
        return this.trailers(out)
    }
  }

  private emit(out: Array<Buffer>, bytes: number) {
    out.push(this.pending.subarray(0, bytes))
    this.pending = this.pending.subarray(bytes)
  }

  private body(out: Array<Buffer>, left: number, chunked: boolean): boolean {
    const bytes = Math.min(left, this.pending.length)
    this.emit(out, bytes)
    if (bytes < left) this.phase = { _tag: "Body", left: left - bytes, chunked }
    else this.phase = { _tag: chunked ? "ChunkEnd" : "Head" }
    return true
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
        // Only the first request can upgrade: its answer is the first thing the origin says, which can be recognised.
        this.phase = head.upgrade && this.requests === 1 ? { _tag: "Upgrading" } : bodyPhase(head.framing)
        return true
      })
    )
  }

  private chunkSize(out: Array<Buffer>): Result.Result<boolean, BadRequest> {
    const end = this.pending.indexOf(LINE_END)
    if (end < 0 && this.pending.length <= MAX_CHUNK_LINE) return Result.succeed(false)
    const size =
      end < 0 || end > MAX_CHUNK_LINE
        ? undefined
        : /^([0-9a-fA-F]{1,12})(?:[ \t]*;.*)?$/.exec(this.pending.toString("latin1", 0, end))?.[1]
    if (size === undefined) return fail(400, "malformed chunk")
    this.emit(out, end + LINE_END.length)
    const bytes = Number.parseInt(size, 16)
    this.phase = bytes === 0 ? { _tag: "Trailers" } : { _tag: "Body", left: bytes, chunked: true }
    return Result.succeed(true)
  }

  private chunkEnd(out: Array<Buffer>): Result.Result<boolean, BadRequest> {
    if (this.pending.length < LINE_END.length) return Result.succeed(false)
    if (!this.pending.subarray(0, LINE_END.length).equals(LINE_END)) return fail(400, "malformed chunk")
    this.emit(out, LINE_END.length)
    this.phase = { _tag: "ChunkSize" }
    return Result.succeed(true)
  }

  private trailers(out: Array<Buffer>): Result.Result<boolean, BadRequest> {
    const end = this.pending.indexOf(LINE_END)
    if (end < 0 && this.pending.length <= MAX_CHUNK_LINE) return Result.succeed(false)
    if (end < 0 || end > MAX_CHUNK_LINE) return fail(431, "trailer too large")
    this.emit(out, end + LINE_END.length)
    if (end === 0) this.phase = { _tag: "Head" }
    return Result.succeed(true)
  }
}

const fail = (status: BadRequest["status"], reason: string) => Result.fail(new BadRequest({ status, reason }))

const bodyPhase = (framing: Framing): Phase => {
  if (framing._tag === "Chunked") return { _tag: "ChunkSize" }
  return framing.bytes === 0 ? { _tag: "Head" } : { _tag: "Body", left: framing.bytes, chunked: false }
}
