/**
 * Browser mode with CT_AGENT_ORIGIN_TLS=terminate: the agent terminates the client's TLS and forwards plain bytes to the origin.
 * Streams that do not begin with a ClientHello are forwarded unchanged. The first request head is complete before the origin is
 * dialed, as at the edge.
 */
import { TLSSocket } from "@catenet/platform/Sockets"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { abort } from "@catenet/wire/transport/Abort"
import { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Data, Duration, Effect } from "effect"
import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import type { SecureContext, TLSSocketOptions } from "node:tls"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Origin } from "../settings/Settings.ts"
import type { AgentCardResponder } from "./AgentCardResponder.ts"
import * as BrowserClients from "./BrowserClients.ts"
import * as FirstRequestHead from "./FirstRequestHead.ts"
import * as Http2Clients from "./Http2Clients.ts"
import * as StreamHelloPeek from "./StreamHelloPeek.ts"
import { awaitReadable } from "./StreamHelloPeek.ts"

// The server side of a TLS session on any stream.

/**
 * A duplex for Node's TLS that stays open until the TLS session closes it. Node takes the close of the underlying stream for a
 * cut, even if both sides have ended before and only its own last step is missing.
 */
type Done = (error?: Error | null) => void

export class HalfOpenDuplex extends Duplex {
  readonly #under: Duplex

  /** Takes over the stream. */
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
 * Takes over the stream. The socket emits `secure` after the handshake, and `close` in any case; `ending` handles an exception in
 * one of its callbacks.
 */
export const openTlsServerSocket = (
  stream: Duplex,
  options: TLSSocketOptions,
  ending: (socket: TLSSocket) => OnFault
): TLSSocket => {
  const socket = new TLSSocket(new HalfOpenDuplex(stream), { ...options, isServer: true })
  guard(socket, ending(socket))
  // Only sockets of a `tls.Server` end by themselves when TLS fails after the handshake. Others emit this internal event of Node
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
 * The first bytes, as many as the decision needs unless the client ends before. A client that begins like TLS and then stops for
 * a while does not speak TLS: the origin gets its bytes.
 */
const take = Effect.fnUntraced(function* (stream: Duplex, before: Uint8Array) {
  let taken = Buffer.from(before)
  if (taken.length === 0 && !(yield* awaitReadable(stream))) return taken
  const decided = Effect.gen(function* () {
    while (StreamHelloPeek.isUndecided(taken) && (yield* awaitReadable(stream))) {
      const more: Buffer | null = stream.read()
      if (more !== null) taken = Buffer.concat([taken, more])
    }
  })
  yield* Effect.timeoutOption(decided, yield* StreamHelloPeek.handshakeLeft(stream))
  return taken
})

/** As at the edge; a client that does not speak HTTP is offered nothing there either. */
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
    const failed = (error: Error) => resume(Effect.fail(new TlsFailed({ why: error.message })))
    const closed = () => failed(new Error("the client went away"))
    socket.once("error", failed)
    socket.once("close", closed)
    socket.once("secure", () => {
      socket.off("error", failed)
      socket.off("close", closed)
      socket.on("error", () => {})
      resume(Effect.succeed(socket))
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: millis,
      orElse: () => Effect.fail(new TlsFailed({ why: `not done within ${StreamHelloPeek.handshakeMillis / 1000} s` }))
    })
  )

/** `context` returns the pair for a new connection; undefined while there is none. */
export const make = (
  origin: Origin,
  context: Effect.Effect<SecureContext | undefined>,
  metrics: AgentMetrics["Service"],
  bounds: FirstRequestHead.Bounds = FirstRequestHead.usualBounds,
  card?: AgentCardResponder,
  crumbs = new CrumbBudget()
): BrowserClients.Handler => {
  const join = BrowserClients.join(origin, metrics, crumbs)
  const http2 = Http2Clients.make(BrowserClients.dial(origin, metrics), metrics, crumbs, card?.http2)

  /** Data from a client that is not served ends it. */
  const refuse = (plain: Duplex, first: FirstRequestHead.Unserved) => {
    metrics.traffic.tunnelsFailed++
    return FirstRequestHead.refuse(plain, first)
  }

  /** The client is silent: the origin speaks first, or the client does after all. */
  const opening = (plain: Duplex) => (socket: Socket) =>
    Effect.flatMap(FirstRequestHead.readUnless(plain, awaitReadable(socket), bounds), (first) =>
      first._tag === "Begun" ? Effect.succeed(first.bytes) : Effect.as(refuse(plain, first), undefined)
    )

  const serveHttp1 = Effect.fnUntraced(function* (plain: Duplex, header: OpenHeader | undefined) {
    const first = yield* Effect.onInterrupt(FirstRequestHead.read(plain, bounds), () =>
      Effect.sync(() => void plain.destroy())
    )
    if (first._tag === "Silent") return yield* join(plain, header, nothing, opening(plain))
    if (first._tag !== "Begun") return yield* refuse(plain, first)
    const follows = card === undefined ? { origin: first.bytes } : yield* card.http1(first.bytes)
    if ("origin" in follows) yield* join(plain, header, follows.origin)
    else yield* FirstRequestHead.answer(plain, follows.answer)
  })

  const serve = (plain: TLSSocket, header: OpenHeader | undefined) =>
    plain.alpnProtocol === "h2" ? http2(plain, header) : serveHttp1(plain, header)

  return Effect.fnUntraced(
    function* (stream, header, taken = nothing) {
      const first = yield* take(stream, taken)
      if (first.length === 0) return void stream.end()
      if (!StreamHelloPeek.isTlsHello(first)) {
        if (card === undefined) return yield* join(stream, header, first)
        // At the edge the card has the same address.
        stream.unshift(first)
        return yield* serveHttp1(stream, header)
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
      yield* serve(plain, header)
    },
    (serving, stream) =>
      Effect.catchTag(serving, "TlsFailed", (error) => {
        metrics.traffic.tunnelsFailed++
        // An alert in transit is the better answer.
        if (!stream.writableEnded) abort(stream, "refused", error.message)
        return Effect.logInfo(error.message)
      })
  )
}
