/**
 * A visitor's decrypted connection as one stream for the relay: what is read from it carries the forwarding fields, what
 * is written to it goes to the visitor as it is. A request that cannot be forwarded is answered here and ends the stream.
 */
import { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { Result } from "effect"
import type { BadRequest, Visitor } from "./RequestHead.ts"
import { RequestRewriter } from "./RequestRewriter.ts"
import { UpgradeAnswer } from "./UpgradeAnswer.ts"
import { plainAnswer } from "./Pages.ts"

const LINGER_MILLIS = 2_000

export class ForwardedStream extends Duplex {
  private readonly visitor: TLSSocket
  private readonly rewriter: RequestRewriter
  private readonly answer = new UpgradeAnswer()
  private visitorEnded = false
  private refused = false

  constructor(socket: TLSSocket, visitor: Visitor) {
    super({ allowHalfOpen: true })
    this.visitor = socket
    this.rewriter = new RequestRewriter(visitor)
    socket.on("data", (chunk: Buffer) => this.forward(this.rewriter.push(chunk)))
    socket.on("end", () => {
      this.visitorEnded = true
      if (!this.rewriter.held && !this.refused) this.push(null)
    })
    socket.on("error", (error) => this.destroy(error))
    socket.on("close", () => this.destroy())
    socket.pause()
  }

  override _read() {
    if (!this.rewriter.held) this.visitor.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) {
    if (this.rewriter.held) {
      const accepted = this.answer.push(chunk)
      if (accepted !== undefined) this.forward(this.rewriter.answered(accepted))
    }
    if (this.refused) done()
    else this.visitor.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void) {
    if (this.refused) done()
    else this.visitor.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void) {
    this.visitor.destroy()
    done(error)
  }

  private forward(rewritten: Result.Result<ReadonlyArray<Buffer>, BadRequest>) {
    if (Result.isFailure(rewritten)) return this.refuse(rewritten.failure)
    let room = true
    for (const bytes of rewritten.success) room = this.push(bytes)
    if (this.rewriter.held || !room) return void this.visitor.pause()
    if (this.visitorEnded) return void this.push(null)
    return void this.visitor.resume()
  }

  /** Answers in the place of the origin; the visitor's unread bytes are drained so that no reset overtakes the answer. */
  private refuse({ status, reason }: BadRequest) {
    this.refused = true
    this.push(null)
    this.visitor.removeAllListeners("data")
    this.visitor.resume()
    this.visitor.end(plainAnswer(status, reason))
    this.visitor.setTimeout(LINGER_MILLIS, () => this.destroy())
  }
}
