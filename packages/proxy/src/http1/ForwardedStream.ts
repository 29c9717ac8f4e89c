/**
 * A visitor's decrypted connection as one stream for the relay: what is read from it carries the forwarding fields, what
 * is written to it goes to the visitor as it is. A request that cannot be forwarded is answered here and ends the stream.
 */
import type { ResetCode } from "@catenet/wire/frames/MuxReason"
import { guard, guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { dropLateBody } from "@catenet/wire/transport/LateBody"
import { closeGracefully, cutUnfinished } from "@catenet/wire/transport/LingeringClose"
import { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { readerOfFields, siteOf } from "../ContentNegotiation.ts"
import type { AskGate, GateVerdict } from "../GateVerdict.ts"
import { type ProxyResponse, http1, plainResponse, readBy, silentPage } from "../ProxyPages.ts"
import { FirstAdmission } from "./FirstAdmission.ts"
import { crumbBytes, HeaderReadThrottle, type Rests } from "./HeaderReadThrottle.ts"
import { HeaderReadTimeout } from "./HeaderReadTimeout.ts"
import { OriginAnswers } from "./OriginAnswers.ts"
import { isSafe, type RequestHead, type Visitor } from "./RequestHead.ts"
import { RequestRewriter } from "./RequestRewriter.ts"

export interface ForwardedStreamOptions {
  /** Called with what a listener threw; the visitor has then ended. */
  readonly onFault: OnFault
  /** Refuses whatever is no HTTP, as long as nothing has been said. */
  readonly httpOnly: boolean
  /** How long a request head may take. */
  readonly headMillis: number
  /** The visitor has sent small pieces; returns for how many milliseconds it is not to be read. */
  readonly onCrumbs?: ((crumbs: number) => number) | undefined
  /** A request has started; if this returns true, the visitor is not read until `resume` is called. */
  readonly rest?: ((resume: () => void) => boolean) | undefined
  /** How long a visitor rests whose head comes in small pieces. */
  readonly rests?: Rests | undefined
  /** Asks the login gate about each request. */
  readonly ask?: AskGate | undefined
}

export class ForwardedStream extends Duplex {
  readonly #admission: FirstAdmission
  readonly #visitor: TLSSocket
  readonly #rewriter: RequestRewriter
  readonly #fault: OnFault
  readonly #answers: OriginAnswers
  readonly #heads: HeaderReadTimeout
  readonly #pace: HeaderReadThrottle
  #refused = false
  /** What the gate answers in the place of the origin. */
  #turnedAway: ProxyResponse | undefined
  #asked: "nothing" | "safe" | "more" = "nothing"
  #requests = 0
  #idleSince: number | undefined
  /** Its fields say who reads a page. */
  #lastRequest: RequestHead | undefined
  /** Something was passed on. */
  #begun = false
  /** The next request waits for its address's turn. */
  #waits = false

  constructor(socket: TLSSocket, visitor: Visitor, options: ForwardedStreamOptions) {
    super({ allowHalfOpen: true })
    const { ask, headMillis, onFault } = options
    this.#visitor = socket
    this.#answers = new OriginAnswers(socket, () => this.#rewriter.endAfterThis())
    const fault: OnFault = (error) => {
      onFault(error)
      this.destroy()
    }
    this.#fault = fault
    guard(this, fault)
    this.#admission = new FirstAdmission(fault)
    this.#heads = new HeaderReadTimeout(headMillis, fault, () => {
      this.#rewriter.expire()
      this.#forward([])
    })
    this.#pace = new HeaderReadThrottle(socket, fault, () => this.#rewriter.held || this.#readVisitor(), options.rests)
    this.#rewriter = new RequestRewriter(visitor, {
      get httpOnly() {
        return options.httpOnly
      },
      gate:
        ask === undefined
          ? undefined
          : (request) => {
              this.#lastRequest = request
              const verdict = ask(request)
              if (verdict === undefined) this.#admission.settle(true)
              void verdict?.then(guarded(fault, (verdict) => this.#judged(verdict)))
              return verdict !== undefined
            },
      asks: (request, edits) => {
        this.#requests += 1
        this.#idleSince = undefined
        this.#lastRequest = request
        this.#asked = this.#asked === "nothing" && isSafe(request) ? "safe" : "more"
        return this.#answers.asks(edits === undefined ? request : { ...request, edits })
      }
    })
    const wake = guarded(fault, () => {
      this.#waits = false
      if (!this.#rewriter.held && !this.#refused && !socket.destroyed) this.#readVisitor()
    })
    socket.on("data", (chunk: Buffer) => {
      const [asked, isSmall] = [this.#requests, chunk.length < crumbBytes]
      this.#forward(this.#rewriter.push(chunk))
      const inHead = this.#rewriter.unfinished !== undefined
      this.#pace.follow(chunk, inHead)
      // A small piece that brings a whole request is no crumb.
      const crumbs = this.#rewriter.takeCrumbs() + Number(isSmall && !inHead && this.#requests === asked)
      if (crumbs > 0 && options.onCrumbs !== undefined) this.#pace.rest(options.onCrumbs(crumbs))
      if (this.#requests === asked || this.#waits || this.#refused || this.#rewriter.refused !== undefined) return
      this.#waits = options.rest?.(wake) === true
      if (this.#waits) socket.pause()
    })
    socket.on("end", () => {
      if (!this.#rewriter.held && !this.#refused) this.push(null)
    })
    socket.on("error", (error) => this.destroy(error))
    this.on("error", () => undefined) // a reset by the visitor is no fault, also while no relay listens yet
    socket.on("close", () => this.destroy())
    if (socket.destroyed) this.destroy()
    socket.pause()
  }

  /** Reads until there is something to forward, which a closed gate has admitted, and calls back once if that comes. */
  whenAdmitted(admitted: () => void): void {
    const end = guarded(this.#fault, () => {
      if (!this.#begun && !this.#rewriter.held && !this.#refused) this.destroy()
    })
    this.#visitor.once("end", end)
    this.#admission.whenAdmitted(admitted)
    this.read(0)
  }

  /** The visitor may no longer pass: what left HTTP ends now, running requests may be answered, later ones are judged. */
  finish() {
    if (this.#rewriter.isRaw) return void this.destroy()
    const running = this.#requests
    const cut = guarded(this.#fault, () => {
      const { isEndless, unanswered } = this.#answers
      if (isEndless || this.#requests - unanswered < running) this.destroy()
    })
    return this.#answers.busy || this.#answers.isEndless ? cutUnfinished(this, cut) : undefined
  }

  /** The edge is stopping: what the visitor has asked for is answered, and the last answer says that the connection ends. */
  drain() {
    this.#answers.announceEnd()
  }

  /** Whether nothing is asked. */
  get isIdle(): boolean {
    const { busy, isEndless } = this.#answers
    const asks = this.#rewriter.held || (this.#rewriter.spoke ? this.#rewriter.isReading : this.#rewriter.hasBegun)
    return !this.#refused && !busy && !isEndless && !asks && !this.#rewriter.isRaw
  }

  /** Ends a connection on which nothing is asked, behind {@link drain}. */
  endIdle() {
    if (this.isIdle) this.#leave()
  }

  /** Its place went to another visitor. */
  evict() {
    return this.isIdle ? this.#leave() : void this.destroy()
  }

  /** To be called every few seconds: ends a connection on which nothing was asked for so long. */
  tend(now: number, idleMillis: number) {
    this.#idleSince = this.isIdle ? (this.#idleSince ?? now) : undefined
    if (this.#idleSince !== undefined && now - this.#idleSince >= idleMillis) this.#leave()
  }

  /** Nothing more comes of the visitor, and nothing but this to it; what it still sends is dropped. */
  #leave(lastWords?: Uint8Array | string, drop = closeGracefully) {
    this.#refused = true
    this.#admission.settle(false)
    this.#visitor.removeAllListeners("data")
    if (lastWords === undefined) this.#visitor.end()
    else this.#visitor.end(lastWords)
    drop(this.#visitor)
    if (!this.readableEnded) this.push(null)
  }

  /** Answers in the place of an agent that could not be found. */
  explain(answer: ProxyResponse) {
    // A fault in what followed the first request may have been answered while an agent was looked for.
    if (!this.#refused && !this.#visitor.writableEnded) this.#respond(answer)
  }

  /** What came of the visitor so far is no more than one safe request without a body, so that it may be asked elsewhere too. */
  get repeatable(): boolean {
    return this.#asked !== "more" && !this.#refused
  }

  override _read() {
    if (this.#rewriter.held || this.#refused) return
    this.#heads.follow(this.#rewriter.unfinished)
    this.#readVisitor()
  }

  /** It may run on its own at the end of a turn, where nothing else would take what it throws (see `coalesceWrites`). */
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) {
    guarded(this.#fault, () => this.#answer(chunk, done))()
  }

  #answer(chunk: Buffer, done: () => void) {
    if (this.#refused) return done()
    const accepted = this.#answers.write(chunk, done)
    if (this.#answers.isAtEnd(this.#rewriter.isReading)) return this.#leave()
    if (accepted !== undefined) this.#forward(this.#rewriter.answered(accepted))
    else if (this.#rewriter.refused !== undefined) this.#refuseWhenDue()
  }

  /** An origin that closes without an answer gets a page too; nothing more of the visitor can reach it. */
  override _final(done: (error?: Error | null) => void) {
    if (this.#mayExplain) this.#respond(silentPage())
    else if (this.#rewriter.held) this.push(null)
    return this.#refused ? done() : void this.#visitor.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void) {
    this.#admission.settle(false)
    this.#heads.follow(undefined)
    this.#pace.stop()
    if (!this.#refused) {
      this.#visitor.uncork()
      this.#visitor.destroy()
    }
    done(error)
  }

  #judged(verdict: GateVerdict) {
    if (this.destroyed || this.#refused) return
    if (verdict._tag === "Passes") {
      this.#admission.settle(true)
      return this.#forward(this.#rewriter.admit(verdict))
    }
    this.#turnedAway = verdict.answer
    this.#rewriter.turnAway()
    this.#forward([])
  }

  #forward(rewritten: ReadonlyArray<Buffer>) {
    let room = true
    if (rewritten.length > 0) {
      this.#begun = true
      this.#admission.settle(true)
      if (this.#asked === "nothing") this.#asked = "more"
    }
    for (const bytes of rewritten) room = this.push(bytes)
    const reads = room && !this.#rewriter.held
    this.#heads.follow(reads ? this.#rewriter.unfinished : undefined)
    if (this.#rewriter.refused !== undefined) {
      this.#visitor.removeAllListeners("data")
      this.#visitor.resume()
      return this.#refuseWhenDue()
    }
    if (this.#answers.isAtEnd(this.#rewriter.isReading)) return this.#leave()
    if (!reads) return void this.#visitor.pause()
    return this.#visitor.readableEnded ? void this.push(null) : this.#readVisitor()
  }

  #readVisitor() {
    if (!this.#pace.rests && !this.#waits) this.#visitor.resume()
  }

  /**
   * The agent's side broke. A visitor without any byte of an answer gets the page that says so; one that is in
   * the middle of an answer must see it torn. Behind a whole answer the connection just ends.
   */
  reset(code: ResetCode) {
    if (code === "revoked" || code === "window-closed") this.destroy()
    else if (this.#mayExplain) this.#respond(silentPage())
    else if (!this.#answers.hasBegun || this.#refused || this.#rewriter.isRaw || !this.#answers.isWhole) this.destroy()
    else if (this.isIdle) this.#leave()
    else this.#leave(undefined, dropLateBody)
  }

  get #mayExplain() {
    return this.#rewriter.spoke && !this.#answers.hasBegun && !this.#refused && !this.#visitor.writableEnded
  }

  /** A refusal is said when the origin has answered every request before the one at fault, and this one not yet. */
  #refuseWhenDue() {
    const refused = this.#rewriter.refused
    if (refused === undefined || this.#refused) return undefined
    const { between, owed } = this.#answers
    const own = refused.begun ? 1 : 0
    if (owed > own) return undefined
    if (between && owed === own)
      return this.#respond(this.#turnedAway ?? plainResponse(refused.why.status, refused.why.reason))
    return void (this.readableEnded || this.push(null))
  }

  /** Answers in the place of the origin, as the final response; the visitor's connection closes after it. */
  #respond(answer: ProxyResponse) {
    const { fields = [], host, method } = this.#lastRequest ?? {}
    this.#leave(http1(readBy(answer, readerOfFields(fields), siteOf(host)), method))
  }
}
