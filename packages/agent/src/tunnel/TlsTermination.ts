/**
 * Browser mode with CT_AGENT_ORIGIN_TLS=terminate: the agent ends the client's TLS, and the proxy follows what it says. Streams
 * that do not begin with a ClientHello are forwarded as they are.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { TLSSocket } from "@catenet/platform/Sockets"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { abort } from "@catenet/wire/transport/Abort"
import { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Data, Duration, Effect } from "effect"
import { Duplex } from "node:stream"
import type { SecureContext, TLSSocketOptions } from "node:tls"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Enforcement } from "../policy/TunnelGate.ts"
import type { AgentCardResponder } from "./AgentCardResponder.ts"
import * as BrowserClients from "./BrowserClients.ts"
import * as FirstRequestHead from "./FirstRequestHead.ts"
import type { OpenOrigin } from "./OriginConnections.ts"
import * as StreamHelloPeek from "./StreamHelloPeek.ts"
import { awaitReadable } from "./StreamHelloPeek.ts"
import * as TerminatedVisits from "./TerminatedVisits.ts"

// The server's side of a TLS session on any stream.

/**
 * A duplex for Node's TLS to run on, which stays open until the TLS session closes it. Node takes the close of the stream under a
 * TLS session for a cut, even when both sides have ended before and only its own last step is open.
 */
type Done = (error?: Error | null) => void

export class HalfOpenDuplex extends Duplex {
  readonly #under: Duplex

  /** Takes the stream over. */
  constructor(under: Duplex) {
    super({ autoDestroy: false, allowHalfOpen: true })
    this.#under = under
    this.on("error", () => {})
    under.on("data", (chunk: Uint8Array) => {
      if (!this.push(chunk)) under.pause()
    })
    under.on("end", () => this.push(null))
    under.on("error", (error) => this.destroy(error))
    under.on("close", () => {
      if (!under.readableEnded) this.destroy(new Error("the connection was cut"))
    })
  }

  override _read() {
    this.#under.resume()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done) {
    if (this.#under.write(chunk) || this.#under.destroyed) done()
    else this.#under.once("drain", done)
  }

  override _final(done: Done) {
    this.#under.end()
    done()
  }

  override _destroy(error: Error | null, done: Done) {
    if (!this.#under.readableEnded || !this.#under.writableEnded) abort(this.#under)
    done(error)
  }
}

/**
 * Takes the stream over. The socket emits `secure` after the handshake, and `close` in any case; `ending` makes what a fault in
 * one of its callbacks does.
 */
export const openTlsServerSocket = (
  stream: Duplex,
  options: TLSSocketOptions,
  ending: (socket: TLSSocket) => OnFault
): TLSSocket => {
  const socket = new TLSSocket(new HalfOpenDuplex(stream), { ...options, isServer: true })
  guard(socket, ending(socket))
  // Only sockets of a `tls.Server` end by themselves when TLS breaks after the handshake. Others emit this event of Node's own
  // and stay open, and the client would wait for ever.
  socket.once("_tlsError", (error: Error) => socket.destroy(error))
  return socket
}

/** The client did not finish the TLS handshake. */
export class TlsFailed extends Data.TaggedError("TlsFailed")<{ readonly why: string }> {
  override get message() {
    return `TLS handshake with a client: ${this.why}`
  }
}

const nothing = new Uint8Array()
/** A fatal alert internal_error (RFC 8446 section 6): there is nothing to answer with yet. */
const internalError = Buffer.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 80)

/**
 * The first bytes, as many as the decision needs unless the client ends before. A client that begins like TLS and says no more
 * for a while is none: the origin gets what it said.
 */
const take = Effect.fnUntraced(function* (stream: Duplex, before: Uint8Array) {
  let taken: Buffer = Buffer.from(before)
  const readOn = () => {
    const more: Buffer | null = stream.read()
    if (more !== null) taken = taken.length === 0 ? more : Buffer.concat([taken, more])
  }
  if (taken.length === 0) {
    if (!(yield* awaitReadable(stream))) return taken
    readOn()
  }
  const decided = Effect.gen(function* () {
    while (StreamHelloPeek.isUndecided(taken) && (yield* awaitReadable(stream))) readOn()
  })
  if (StreamHelloPeek.isUndecided(taken))
    yield* Effect.timeoutOption(decided, yield* StreamHelloPeek.handshakeLeft(stream))
  return taken
})

/** The edge offers the same where it ends TLS; a client that speaks no HTTP is offered nothing there either. */
const web = ["h2", "http/1.1"]

const accept = (
  stream: Duplex,
  secureContext: SecureContext,
  isWeb: boolean,
  ending: AgentMetrics["Service"]["ending"],
  millis: number
) =>
  Effect.callback<TLSSocket, TlsFailed>((resume) => {
    const options = isWeb ? { secureContext, ALPNProtocols: web } : { secureContext }
    const socket = openTlsServerSocket(stream, options, ending)
    const fail = (why: string) => {
      Scheduler.clearTimeout(late)
      resume(Effect.fail(new TlsFailed({ why })))
    }
    const late = Scheduler.setTimeout(() => fail(`not done within ${StreamHelloPeek.handshakeMillis / 1000} s`), millis)
    const failed = (error: Error) => fail(error.message)
    const closed = () => fail("the client went away")
    socket.once("error", failed)
    socket.once("close", closed)
    socket.once("secure", () => {
      Scheduler.clearTimeout(late)
      socket.off("error", failed)
      socket.off("close", closed)
      socket.on("error", () => {})
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => Scheduler.clearTimeout(late))
  })

export interface Surroundings {
  readonly bounds?: FirstRequestHead.Bounds
  readonly card?: AgentCardResponder | undefined
  readonly crumbs?: CrumbBudget | undefined
  /** What the owner demands of visitors; absent where this agent enforces nothing. */
  readonly enforcement?: Enforcement | undefined
}

/** `context` gives the pair to use for a new connection; undefined while there is none. */
export const make = (
  origin: OpenOrigin,
  context: Effect.Effect<SecureContext | undefined>,
  metrics: AgentMetrics["Service"],
  { bounds = FirstRequestHead.usualBounds, card, crumbs = new CrumbBudget(), enforcement }: Surroundings = {}
): BrowserClients.Handler => {
  const { join } = BrowserClients.joining(origin, metrics)
  const visits = TerminatedVisits.make(origin, metrics, { bounds, card, crumbs, enforcement })

  /** A client whose TLS the edge ends: its card is at the same address. */
  const serveBehindEdge = Effect.fnUntraced(function* (
    stream: Duplex,
    header: OpenHeader | undefined,
    { http1 }: AgentCardResponder
  ) {
    const first = yield* FirstRequestHead.read(stream, bounds)
    if (first._tag === "Silent") return yield* join(stream, header)
    if (first._tag !== "Begun") {
      metrics.traffic.tunnelsFailed++
      return yield* FirstRequestHead.refuse(stream, first)
    }
    const follows = yield* http1(first.bytes)
    if ("origin" in follows) yield* join(stream, header, follows.origin)
    else yield* FirstRequestHead.answer(stream, follows.answer)
  })

  return Effect.fnUntraced(
    function* (stream, header, taken = nothing) {
      if (header?.gated === true) enforcement?.policy.gatedByEdge()
      const first = yield* take(stream, taken)
      if (first.length === 0) return void stream.end()
      if (!StreamHelloPeek.isTlsHello(first)) {
        // What is no TLS where there should be some would pass unasked.
        if (header?.tls === "passthrough" && enforcement?.policy.isHttpOnly === true)
          return yield* new TlsFailed({ why: "the client does not speak TLS" })
        if (card === undefined) return yield* join(stream, header, first)
        stream.unshift(first)
        return yield* serveBehindEdge(stream, header, card)
      }
      const pair = yield* context
      if (pair === undefined) {
        stream.end(internalError)
        stream.resume()
        return yield* new TlsFailed({ why: "there is no certificate yet" })
      }
      stream.unshift(first)
      const { hello, taken: rest } = yield* StreamHelloPeek.peek(stream)
      if (rest.length > 0) return yield* new TlsFailed({ why: "the client went away" })
      const isWeb = hello?.alpn.some((protocol) => web.includes(protocol)) === true
      const left = yield* StreamHelloPeek.handshakeLeft(stream)
      const [took, plain] = yield* Effect.timed(accept(stream, pair, isWeb, metrics.ending, left))
      metrics.traffic.handshakes++
      metrics.traffic.handshakeMillis += Duration.toMillis(took)
      yield* (plain.alpnProtocol === "h2" ? visits.http2 : visits.http1)(plain, header, hello?.serverName)
    },
    (serving, stream) =>
      Effect.catchTag(serving, "TlsFailed", (error) => {
        metrics.traffic.tunnelsFailed++
        // An alert that is on its way is the better answer.
        if (!stream.writableEnded) abort(stream, "refused", error.message)
        return Effect.logInfo(error.message)
      })
  )
}
