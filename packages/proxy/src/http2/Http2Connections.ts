/**
 * Visitors of gelb hosts that speak HTTP/2: their connections, from the first frame to the last. Every request becomes an
 * HTTP/1.1 request to the agent, with the same fields added as on HTTP/1.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { coalesceReads } from "@catenet/wire/transport/Coalesce"
import { guard, guarded, type OnFault, silence } from "@catenet/wire/transport/FaultBoundary"
import {
  arrive,
  maxSendHeaderBlockLength,
  maxStreams,
  streamWindow,
  TornStream
} from "@catenet/wire/transport/Http2Stream"
import type { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import { cutAfter } from "@catenet/wire/transport/LingeringClose"
import { SessionPause } from "@catenet/wire/transport/ReadPause"
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2"
import type { TLSSocket } from "node:tls"
import type { GateVerdict } from "../GateVerdict.ts"
import { silenceMillis } from "../http1/FirstByte.ts"
import type { Visitor } from "../http1/RequestHead.ts"
import { type ProxyResponse, fullPage } from "../ProxyPages.ts"
import { proxy, respond } from "./Http2Exchange.ts"
import { isWebSocket, openWebSocket } from "./Http2WebSocket.ts"

/**
 * Finds the header block that an HTTP/2 visitor began and does not finish. Node says nothing of it: the stream is announced when
 * its block is whole. But the session counts the stream as processed when the block begins, and nothing but the rest of the block
 * may come before its end (RFC 9113 section 4.3): a peer that acknowledges a PING sent meanwhile has no block open.
 */
class HeaderBlocks {
  readonly #session: ServerHttp2Session
  readonly #millis: number
  /** Streams up to this one are known to have their whole block. */
  #whole = 0
  /** The stream whose block seems to be open, and since when. */
  #open: { readonly id: number; readonly since: number } | undefined

  constructor(session: ServerHttp2Session, millis: number) {
    this.#session = session
    this.#millis = millis
  }

  /** The stream was announced, so that its block and all before it are whole. */
  announced(id: number) {
    this.#finished(id)
  }

  /** To be asked several times within the bound: whether a block is open for so long. */
  isLate(now: number): boolean {
    if (this.#session.destroyed) return false
    if (this.#open !== undefined) return now - this.#open.since >= this.#millis
    const { lastProcStreamID: id = 0 } = this.#session.state
    if (id <= this.#whole) return false
    this.#open = { id, since: now }
    this.#session.ping((error) => {
      if (error === null) this.#finished(id)
    })
    return false
  }

  #finished(id: number) {
    this.#whole = Math.max(this.#whole, id)
    if (this.#open !== undefined && this.#open.id <= this.#whole) this.#open = undefined
  }
}

/** Loaded for the first visitor that speaks it: an idle edge then holds 5 MB less. */
const http2 = () => process.getBuiltinModule("node:http2")

/** Who looks at the end of one request: the gate, the exchange, its pipes, its limits. */
const streamListeners = 16
const connectionWindow = 2 * 1024 * 1024
/** No stream has a higher number. */
const lastStream = 2 ** 31 - 1
/** How often in a row a connection may be found at its end before it is cut. */
const maxStrikes = 3
/** How long a connection that is closed for its behaviour may take to read the reason. */
const graceMillis = 2_000
/** A visitor whose small frames would have to rest for longer is let go. */
const maxRestMillis = 30_000

export interface Http2Options {
  readonly visitor: Visitor
  /** The connections to origins, which end with the visitor's. */
  readonly upstream: KeepAliveAgent
  /** An answer the edge gives itself, asked before every request: the window is closed, the host is gone. */
  readonly refusal: () => ProxyResponse | undefined
  /** Takes the places of a visitor, with its first request that may be forwarded; false: there is none. */
  readonly enter: (visit: Http2Visit) => boolean
  /** How long a connection may stay on which no request runs. */
  readonly idleMillis: number
  /** Asks the login gate about a request; nothing where the host has none. */
  readonly ask: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => Promise<GateVerdict> | undefined
  /** How long the header block of a request may take. */
  readonly headMillis: number
  /** The visitor has reset a stream; false ends its connection. */
  readonly mayReset: () => boolean
  /** The visitor has sent a small DATA frame; returns for how many milliseconds it is not to be read. */
  readonly onCrumb: () => number
  /** A request is about to be forwarded; false: its address has too many that run. */
  readonly mayAsk: (stream: ServerHttp2Stream) => boolean
  /** Starts a request when it is its address's turn, at the earliest after the events of this turn of the loop. */
  readonly turn: (start: () => void) => void
  /** A stream begins. */
  readonly onStream: (stream: ServerHttp2Stream) => void
  /** The connection is gone. */
  readonly onClose: (visit: Http2Visit) => void
  /** Called with what a callback threw; the stream that it belongs to has ended, or else the connection. */
  readonly onFault: OnFault
}

export class Http2Visit {
  readonly #session: ServerHttp2Session
  readonly #socket: TLSSocket
  #streams = 0
  #quietSince = Scheduler.monotonicMillis()
  #moved = 0
  #visitorLeaves = false
  #strikes = 0
  readonly #blocks: HeaderBlocks
  readonly #mayReset: () => boolean
  readonly #idleMillis: number
  readonly #reads: SessionPause
  #asked = false
  #entered = false

  /** Takes the connection over. */
  constructor(socket: TLSSocket, options: Http2Options) {
    this.#socket = socket
    this.#reads = new SessionPause(socket)
    this.#mayReset = options.mayReset
    this.#idleMillis = options.idleMillis
    socket.once("close", () => {
      options.upstream.destroy()
      options.onClose(this)
    })
    // An HTTP/2 connection has no halves: a peer that ends it is gone.
    socket.allowHalfOpen = false
    socket.once("end", () => this.#session.destroy())
    this.#session = http2().performServerHandshake(socket, {
      settings: { maxConcurrentStreams: maxStreams, initialWindowSize: streamWindow, enableConnectProtocol: true },
      maxSendHeaderBlockLength,
      strictSingleValueFields: false
    })
    guard(this.#session, (error) => {
      options.onFault(error)
      socket.destroy()
    })
    this.#blocks = new HeaderBlocks(this.#session, options.headMillis)
    this.#session.setLocalWindowSize(connectionWindow)
    this.#session.on("error", () => undefined)
    // Settings that the visitor never acknowledged keep a session for as long as it leads to its native half, which its socket
    // and the error that ended it do.
    this.#session.once("close", () => silence(this.#session))
    this.#session.on("goaway", () => {
      this.#visitorLeaves = true
    })
    this.#session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const fault: OnFault = (error) => {
        options.onFault(error)
        stream.destroy(new TornStream("a fault of the edge"))
      }
      guard(stream, fault)
      stream.on("error", () => undefined)
      // A request has a fixed number of them, a few more than the ten at which Node suspects a leak.
      stream.setMaxListeners(streamListeners)
      coalesceReads(stream, () => this.#rest(options.onCrumb()))
      this.#blocks.announced(stream.id ?? 0)
      // Trailers may come with the request, before anything else is done about it.
      const incoming = arrive(stream, headers, fault)
      const begin = () => {
        if (stream.closed) return undefined
        const refusal = options.refusal()
        if (refusal !== undefined) return respond(stream, headers, refusal)
        const asked = options.ask(stream, headers)
        const forward = (visitor: Visitor) => {
          if (!options.mayAsk(stream)) return respond(stream, headers, fullPage())
          this.#entered ||= options.enter(this)
          const carry = isWebSocket(headers) ? openWebSocket : proxy
          if (this.#entered) return carry(incoming, visitor, options.upstream, fault)
          respond(stream, headers, fullPage())
          return this.drain()
        }
        if (asked === undefined) return forward(options.visitor)
        const judged = (verdict: GateVerdict) => {
          if (stream.closed) return
          if (verdict._tag === "Responds") return respond(stream, headers, verdict.answer)
          const { edits, identity } = verdict
          forward({ ...options.visitor, identity, edits })
        }
        return void asked.then(guarded(fault, judged))
      }
      guarded(fault, () => {
        this.#enter(stream)
        options.onStream(stream)
        // A stream that is reset in the packet it began in leads to no work.
        options.turn(guarded(fault, begin))
      })()
    })
  }

  /** Says that the connection ends soon; what is on its way already is still answered (RFC 9113 section 6.8). */
  announce() {
    if (!this.#session.destroyed) this.#session.goaway(http2().constants.NGHTTP2_NO_ERROR, lastStream)
  }

  /** Lets the visitor finish what it asked and ask no more. */
  drain() {
    this.#session.close()
  }

  /** Whether no request runs. */
  get isIdle(): boolean {
    return this.#streams === 0
  }

  /** Its place went to another visitor. */
  evict() {
    if (!this.isIdle) return this.#calm()
    this.drain()
    return void cutAfter(this.#socket, graceMillis)
  }

  /**
   * To be called every few seconds: an idle connection gets GOAWAY; one that has said its last word, or whose visitor has
   * said so and moves no bytes, is cut after a few times. Node's own timeout of a session is not used: it would keep a session
   * that is gone until it fires. Nor does Node see a visitor leave once it broke the protocol behind its GOAWAY.
   */
  tend() {
    const { bytesRead, bytesWritten } = this.#socket
    const rests = bytesRead + bytesWritten === this.#moved
    this.#moved = bytesRead + bytesWritten
    this.#strikes = this.#session.destroyed || (this.#visitorLeaves && rests) ? this.#strikes + 1 : 0
    if (this.#strikes >= maxStrikes) this.#socket.destroy()
    else if (
      this.isIdle &&
      Scheduler.monotonicMillis() - this.#quietSince >= (this.#asked ? this.#idleMillis : silenceMillis)
    )
      this.drain()
  }

  /** To be called several times within the bound: a connection whose header block is open for longer is cut. */
  watchHeads() {
    if (this.#blocks.isLate(Scheduler.monotonicMillis())) this.#calm()
  }

  /** Does not read the connection for so long, which its flow control would not bring about: a window counts bytes, not frames. */
  #rest(millis: number) {
    if (millis > maxRestMillis) return this.#calm()
    return this.#reads.pause(millis)
  }

  #calm() {
    this.#session.destroy(new TornStream("enough"), http2().constants.NGHTTP2_ENHANCE_YOUR_CALM)
    // The visitor may read nothing of it.
    cutAfter(this.#socket, graceMillis)
  }

  #enter(stream: ServerHttp2Stream) {
    this.#streams += 1
    this.#asked = true
    stream.once("close", () => {
      this.#streams -= 1
      this.#quietSince = Scheduler.monotonicMillis()
      const byVisitor = stream.aborted && !(stream.errored instanceof TornStream) && !this.#session.destroyed
      if (byVisitor && !stream.headersSent && !this.#mayReset()) this.#calm()
    })
  }
}
