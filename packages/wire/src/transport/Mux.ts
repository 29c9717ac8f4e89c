/**
 * A multiplexed session between agent and edge over one byte carrier (TLS 1.3 with ALPN `ct-edge-mux`): hello,
 * registrations, streams with credit, echo, drain and a reason for every end. Plain Node streams and callbacks, since
 * every chunk of every visitor passes here. What a stream is for is decided by its two ends.
 */
import { Result } from "effect"
import type { Buffer } from "node:buffer"
import type { Duplex } from "node:stream"
import type { OriginEcho } from "../frames/MuxEcho.ts"
import { type ControlFrame, encodeMuxFrame, type SendableFrame } from "../frames/MuxFrame.ts"
import { agreedVersion, challengeBytes, muxVersion } from "../frames/MuxHello.ts"
import type { AcceptorHello, MuxHello } from "../frames/MuxHello.ts"
import type { OpenHeader } from "../frames/MuxOpen.ts"
import type { CloseCode, ResetCode } from "../frames/MuxReason.ts"
import type { Refusal, RegisterRequest } from "../frames/MuxRegister.ts"
import { Acknowledgements } from "./Acknowledgements.ts"
import { type CarrierSession, type SessionClosed, type SessionCounters, StreamRefused } from "./Carrier.ts"
import { Echoes } from "./Echoes.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"
import { monotonicMillis } from "./MonotonicClock.ts"
import { defaultLimits, type MuxLimits } from "./MuxLimits.ts"
import type { MuxOptions } from "./MuxOptions.ts"
import { MuxReader } from "./MuxReader.ts"
import { MuxSender } from "./MuxSender.ts"
import type { MuxStream } from "./MuxStream.ts"
import { Pings } from "./Pings.ts"
import { OwnRegistrations, PeerRegistrations, type Registration } from "./Registrations.ts"
import { closingMillis, SessionTimers } from "./SessionTimers.ts"
import { StreamTable, type Violation } from "./StreamTable.ts"

export const muxAlpn = "ct-edge-mux"

const defaultKeepAlive = { everyMillis: 8_000, deadMillis: 24_000 }
const defaultHelloMillis = 10_000

export class Mux implements CarrierSession {
  readonly #ready = Promise.withResolvers<Result.Result<AcceptorHello, SessionClosed>>()
  readonly #drained = Promise.withResolvers<string>()
  readonly #closed = Promise.withResolvers<SessionClosed>()
  readonly ready = this.#ready.promise
  readonly draining = this.#drained.promise
  readonly closed = this.#closed.promise
  readonly counters: SessionCounters = {
    bytesSent: 0,
    bytesReceived: 0,
    streamsOpened: 0,
    streamsAccepted: 0,
    streamsOpen: 0,
    resetsSent: 0,
    resetsReceived: 0,
    lastReceivedAt: monotonicMillis(),
    rttMillis: undefined
  }
  readonly #carrier: Duplex
  readonly #options: MuxOptions
  readonly #hello: MuxHello
  readonly #sender: MuxSender
  readonly #reader: MuxReader
  readonly #streams: StreamTable
  readonly #pings = new Pings()
  readonly #own: OwnRegistrations
  readonly #peers: PeerRegistrations
  readonly #echoes: Echoes
  #peerHello: MuxHello | undefined
  #peerDrains = false
  #draining: "no" | "announced" | "settled" = "no"
  #ending: SessionClosed | undefined
  readonly #acks: Acknowledgements
  /** Ends the session without a closing frame, since the code that writes one may be what failed. */
  readonly #fault: OnFault = (error) => {
    this.#options.onFault?.(error)
    this.#carrier.destroy()
  }
  readonly #timers = new SessionTimers(this.#fault)

  /** Takes the carrier over. Throws a `RangeError` when an acceptor has no challenge. */
  constructor(carrier: Duplex, options: MuxOptions) {
    const acceptor = options.side === "acceptor"
    if (acceptor && options.challenge?.length !== challengeBytes) {
      throw new RangeError(`an acceptor needs a challenge of ${challengeBytes} bytes`)
    }
    const limits: MuxLimits = { ...defaultLimits, ...options.limits }
    this.#carrier = carrier
    this.#options = options
    this.#hello = {
      lowest: muxVersion,
      version: muxVersion,
      maxStreams: options.onStream === undefined ? 0 : limits.maxStreams,
      initialWindow: limits.initialWindow,
      ...(options.challenge !== undefined && { challenge: options.challenge }),
      ...(options.edgeProcess !== undefined && { edgeProcess: options.edgeProcess }),
      ...(options.onRegister !== undefined && { maxRegistrations: limits.registrations })
    }
    this.#sender = new MuxSender(carrier, this.counters, () => {
      // No closing frame: there is no room for it.
      this.#end({ code: "overloaded", sentence: "the peer does not read what it asks for", by: "local" })
      carrier.destroy()
    })
    this.#reader = new MuxReader({
      control: (frame) => this.#control(frame),
      data: (id, piece) => this.#data(id, piece),
      violation: (reason) => this.close("protocol", reason)
    })
    const send = (frame: SendableFrame) => this.#sender.control(encodeMuxFrame(frame))
    this.#acks = new Acknowledgements((bytes) => send({ _tag: "Ack", bytes }), this.#fault)
    this.#own = new OwnRegistrations(send)
    const report: OnFault = options.onFault ?? (() => undefined)
    this.#echoes = new Echoes({
      send,
      onEcho: options.onEcho,
      onFault: this.#fault,
      isOwn: (registration) => this.#own.has(registration)
    })
    this.#peers = new PeerRegistrations(send, limits.registrations, options.onRegister, report)
    this.#streams = new StreamTable({
      sender: this.#sender,
      limits,
      counters: this.counters,
      firstId: acceptor ? 2 : 1,
      onStream: options.onStream,
      onFault: report,
      refusing: () => (this.#draining === "settled" ? "draining" : undefined),
      idle: () => this.#finishDraining()
    })
    this.#start()
  }

  open(header: OpenHeader): Result.Result<MuxStream, StreamRefused> {
    if (this.#ending !== undefined) return Result.fail(new StreamRefused({ reason: "closed" }))
    if (this.#peerHello === undefined) return Result.fail(new StreamRefused({ reason: "not-ready" }))
    if (this.#peerDrains || this.#draining !== "no") return Result.fail(new StreamRefused({ reason: "draining" }))
    return this.#streams.open(header)
  }

  /** Resets the streams that were opened for one of the peer's registrations. */
  cut(registration: number, code: ResetCode, sentence: string): void {
    this.#streams.cut(registration, code, sentence)
  }

  /** Asks the edge to register; answered when the edge answers, or refused as `closed` with the session. */
  async register(request: RegisterRequest): Promise<Result.Result<Registration, Refusal>> {
    const ready = await this.ready
    if (Result.isFailure(ready)) return Result.fail({ code: "closed", sentence: ready.failure.sentence })
    if (this.#ending !== undefined) return Result.fail({ code: "closed", sentence: this.#ending.sentence })
    return this.#own.register(request)
  }

  ping(): Promise<number | undefined> {
    if (this.#ending !== undefined) return Promise.resolve(undefined)
    const { nonce, rtt } = this.#pings.start()
    this.#sender.control(encodeMuxFrame({ _tag: "Ping", nonce }))
    return rtt
  }

  echo(registration: number): Promise<OriginEcho | undefined> {
    return this.#echoes.ask(registration)
  }

  goAway(sentence = ""): void {
    if (this.#ending !== undefined || this.#draining !== "no") return
    this.#draining = "announced"
    this.#drained.resolve(sentence)
    this.#sender.control(encodeMuxFrame({ _tag: "GoAway", reason: { code: "draining", sentence } }))
    // A stream that the peer opened before it read the announcement is still served; the echo of this ping comes
    // after the last of those.
    const settle = () => {
      this.#draining = "settled"
      this.#finishDraining()
    }
    void this.ping().then(guarded(this.#fault, settle))
  }

  close(code: CloseCode, sentence = ""): void {
    if (this.#ending !== undefined) return
    this.#sender.control(encodeMuxFrame({ _tag: "Close", reason: { code, sentence } }))
    this.#end({ code, sentence, by: "local" })
  }

  #start(): void {
    const carrier = this.#carrier
    carrier.on("data", (chunk: Buffer) => this.#receive(chunk))
    carrier.on("end", () => this.#lost("the connection ended"))
    carrier.on("error", (error) => this.#lost(error.message))
    carrier.on("close", () => this.#lost("the connection closed"))
    this.#sender.control(encodeMuxFrame({ _tag: "Hello", hello: this.#hello }))
    const { helloMillis = defaultHelloMillis, keepAlive = defaultKeepAlive } = this.#options
    this.#timers.after(helloMillis, () => {
      if (this.#peerHello === undefined) this.close("timeout", "no hello came")
    })
    if (keepAlive === false) return
    this.#timers.every(keepAlive.everyMillis, () => {
      if (this.#pings.oldestMillis >= keepAlive.deadMillis) {
        this.close("dead", `no echo for ${keepAlive.deadMillis} ms`)
      } else void this.ping()
    })
  }

  #receive(chunk: Buffer): void {
    this.counters.lastReceivedAt = monotonicMillis()
    this.#reader.feed(chunk)
    this.#acks.settle()
  }

  #data(id: number, piece: Buffer): void {
    if (this.#peerHello === undefined) return this.close("protocol", "data before hello")
    this.#acks.received(piece.length)
    this.counters.bytesReceived += piece.length
    this.#judge(this.#streams.data(id, piece))
  }

  #control(frame: ControlFrame): void {
    if (this.#peerHello === undefined && frame._tag !== "Hello" && frame._tag !== "Close") {
      return this.close("protocol", "no hello at the start")
    }
    switch (frame._tag) {
      case "Hello":
        return this.#greet(frame.hello)
      case "Open":
        return this.#judge(this.#streams.accept(frame.id, frame.header))
      case "Fin":
      case "Reset":
      case "Window":
        return this.#judge(this.#streams.frame(frame))
      case "Ack":
        if (!this.#sender.acked(frame.bytes)) this.close("protocol", "more acknowledged than was sent")
        return undefined
      case "Ping":
        return this.#sender.control(encodeMuxFrame({ _tag: "Pong", nonce: frame.nonce }))
      case "Pong":
        this.counters.rttMillis = this.#pings.answered(frame.nonce) ?? this.counters.rttMillis
        return undefined
      case "Register":
      case "Withdraw":
      case "Certificate":
        if (!this.#peers.receive(frame)) this.close("protocol", "registration out of order")
        return undefined
      case "Registered":
      case "Refused":
        if (!this.#own.receive(frame)) this.close("protocol", "an answer without a question")
        return undefined
      case "GoAway":
        this.#peerDrains = true
        return this.#drained.resolve(frame.reason.sentence)
      case "Close":
        return this.#end({ ...frame.reason, by: "remote" })
      case "Echo":
      case "Echoed":
        return this.#echoes.receive(frame)
      case "Policy":
        return this.#own.policyChanged(frame.id, frame.revision)
      case "Extension":
        return undefined
    }
  }

  #greet(hello: MuxHello): void {
    if (this.#peerHello !== undefined) return this.close("protocol", "a second hello")
    if (agreedVersion(this.#hello, hello) === undefined) {
      return this.close("version", `versions ${hello.lowest} to ${hello.version} offered, ${muxVersion} spoken here`)
    }
    this.#peerHello = hello
    this.#streams.peer = hello
    this.#ready.resolve(Result.succeed(hello))
  }

  #judge(violation: Violation | undefined): void {
    if (violation !== undefined) this.close(violation.code, violation.sentence)
  }

  #finishDraining(): void {
    if (this.#draining === "settled" && this.#streams.size === 0) this.close("draining", "all streams are done")
  }

  #lost(sentence: string): void {
    this.#end({ code: "lost", sentence, by: "carrier" })
  }

  #end(closed: SessionClosed): void {
    if (this.#ending !== undefined) return
    this.#ending = closed
    this.#reader.stop()
    this.#timers.stop()
    this.#sender.close()
    this.#streams.abandon(closed.sentence)
    this.#pings.abandon()
    this.#echoes.abandon()
    this.#own.abandon(closed.sentence)
    this.#peers.abandon()
    this.#ready.resolve(Result.fail(closed))
    this.#closed.resolve(closed)
    const carrier = this.#carrier
    carrier.end()
    // The peer may never read the closing frame, or never end its own half.
    const destroy = setTimeout(() => carrier.destroy(), closingMillis).unref()
    carrier.once("close", () => clearTimeout(destroy))
  }
}
