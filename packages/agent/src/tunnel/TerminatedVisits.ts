/**
 * Visitors whose TLS this agent ends: the proxy follows their HTTP, as it does at the edge while that ends TLS, so that nothing
 * changes for visitor and origin when the name turns end-to-end. Who speaks another protocol is the origin's from its first byte on.
 */
import { METHODS } from "@catenet/platform/Http"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { GateVerdict } from "@catenet/proxy/internal/GateVerdict"
import { ForwardedStream } from "@catenet/proxy/internal/http1/ForwardedStream"
import type { Visitor } from "@catenet/proxy/internal/http1/RequestHead"
import { Http2Visit } from "@catenet/proxy/internal/http2/Http2Connections"
import { RequestTurns } from "@catenet/proxy/internal/RequestTurns"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import { StalledStreams } from "@catenet/wire/transport/StalledStreams"
import { Effect, Fiber, Option, Schedule } from "effect"
import type { ClientRequestArgs } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Origin } from "../settings/Settings.ts"
import type { AgentCardResponder } from "./AgentCardResponder.ts"
import * as BrowserClients from "./BrowserClients.ts"
import * as FirstRequestHead from "./FirstRequestHead.ts"
import { awaitReadable } from "./StreamHelloPeek.ts"

/** As at the edge, where `CT_EDGE_VISITOR_IDLE_SECS` has this default. */
const idleMillis = 75_000
const tendEvery = "2 seconds"
/** What a client of a stream sends in pieces comes one piece at a time. */
const gatherMillis = 20
/** Bytes of the first line in which a protocol that is not HTTP may not name it. */
const guardedBytes = 65_536
/** A client whose small frames would have to wait for longer is read again: what it sent meanwhile is counted. */
const maxRestMillis = 30_000
/** So many requests of a connection may be reset before they are answered; each one that is answered gives one back. */
const mostResets = 200

/** Responses over HTTP/2 that clients do not read. */
const maxStalled = 128

/** A request whose origin is down is answered, not repeated. */
class OriginAway extends Error {}

type Opened = (error: Error | null, stream: Duplex) => void

/** HTTP/1.1 connections to the origin for one client that speaks HTTP/2: kept alive and used again, never shared between clients. */
class OriginConnections extends KeepAliveAgent {
  readonly #connect: (opened: (error: Error | null, socket: Socket | undefined) => void) => void

  constructor(connect: (opened: (error: Error | null, socket: Socket | undefined) => void) => void) {
    super()
    this.#connect = connect
  }

  override createConnection(_options: ClientRequestArgs, opened?: Opened): undefined {
    this.#connect((error, socket) => {
      // Node's types want a stream with the error, Node itself does not look at it.
      if (opened !== undefined) opened(error, socket as Duplex)
      else socket?.destroy()
    })
    return undefined
  }
}

/** Node's parser takes a request of RTSP for one of HTTP, with these methods besides its own. */
const rtspMethods = "DESCRIBE ANNOUNCE SETUP PLAY PAUSE TEARDOWN GET_PARAMETER SET_PARAMETER REDIRECT RECORD FLUSH"
const methods: ReadonlySet<string> = new Set([...METHODS, ...rtspMethods.split(" ")])

/** Between white space that some origin skips. */
// eslint-disable-next-line no-control-regex -- Python splits a line at these
const firstWord = /^[\t-\r\x1c-\x20\x85\xa0]*([A-Z][A-Z_-]*)[\t-\r\x1c-\x20\x85\xa0]/

/**
 * Whether some origin takes this for a request, though it is none of HTTP/1: `GET /` alone is one of HTTP/0.9 to Python, and
 * `GET / RTSP/1.0` one with fields to Node.
 */
const namesMethod = (text: string): boolean => methods.has(firstWord.exec(text)?.[1] ?? "")

/**
 * A client whose first bytes begin no request of HTTP is not followed. An origin that takes its first line for one all the same
 * would believe what this client says about itself.
 */
const guardFirstLine = (client: Duplex, far: Socket) => {
  let line = ""
  const look = (chunk: Buffer) => {
    line = (line + chunk.toString("latin1", 0, guardedBytes)).trimStart()
    const end = line.indexOf("\n")
    const first = end < 0 ? line : line.slice(0, end)
    if (/http\//iu.test(first) || namesMethod(line)) {
      // Before it is written there.
      far.destroy()
      client.destroy()
    }
    if (end >= 0 || line.length > guardedBytes) client.off("data", look)
  }
  client.on("data", look)
}

const closed = (socket: TLSSocket) =>
  Effect.callback<void>((resume) => {
    if (socket.destroyed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
    return Effect.sync(() => void socket.destroy())
  })

/** What waits in the socket, which keeps it. */
const beginning = (socket: TLSSocket) => {
  // All that lies there as one piece; without its length Node gives one for each that came.
  const bytes: Buffer | null = socket.read(socket.readableLength)
  if (bytes !== null) socket.unshift(bytes)
  return bytes
}

const visitorOf = (header: OpenHeader | undefined, hostname: string | undefined): Visitor => ({
  address: header?.client?.address ?? "unknown",
  hostname: hostname ?? header?.host
})

export const make = (
  origin: Origin,
  metrics: AgentMetrics["Service"],
  bounds: FirstRequestHead.Bounds,
  card: AgentCardResponder | undefined,
  crumbs: CrumbBudget
) => {
  const { carry, connect, failed } = BrowserClients.joining(origin, metrics)
  const stalled = new StalledStreams(maxStalled, metrics.fault)
  const turns = new RequestTurns()
  const dialForHttp2 = BrowserClients.dial(origin, metrics)
  const judge = (method: string, target: string): Promise<GateVerdict> | undefined => card?.judge(method, target)

  /** Tends the visit as long as `serving` runs. */
  const tended = (tend: () => void, drain: () => void) => (serving: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const look = Effect.sync(() => {
        if (metrics.draining.is) drain()
        tend()
      })
      const tending = yield* Effect.forkChild(Effect.repeat(look, Schedule.spaced(tendEvery)))
      yield* Effect.ensuring(serving, Fiber.interrupt(tending))
    })

  const follow = (
    socket: TLSSocket,
    header: OpenHeader | undefined,
    hostname: string | undefined,
    dialled?: Socket
  ) => {
    const visit = new ForwardedStream(socket, visitorOf(header, hostname), {
      onFault: metrics.fault,
      httpOnly: false,
      headMillis: bounds.headMillis,
      rests: { ...bounds.pace, gatherMillis },
      ask: ({ method, target }) => judge(method, target),
      onCrumbs: BrowserClients.crumbsOf(crumbs, header),
      rest: (resume) => turns.rest(visitorOf(header, hostname).address, resume)
    })
    const admitted = Effect.callback<boolean>((resume) => {
      visit.whenAdmitted(() => resume(Effect.succeed(true)))
      socket.once("close", () => resume(Effect.succeed(false)))
      if (socket.destroyed) resume(Effect.succeed(false))
    })
    const serving = Effect.gen(function* () {
      if (yield* admitted) yield* carry(visit, dialled ?? (yield* connect(header)), undefined)
      else dialled?.destroy()
    }).pipe(
      Effect.catchTag("OriginDown", failed(visit)),
      Effect.andThen(closed(socket)),
      Effect.onInterrupt(() => Effect.sync(() => void visit.destroy()))
    )
    const drain = () => {
      visit.drain()
      visit.endIdle()
    }
    return tended(() => visit.tend(Scheduler.monotonicMillis(), idleMillis), drain)(serving)
  }

  const leave = (socket: TLSSocket, dialled: Socket | undefined) => {
    dialled?.destroy()
    return FirstRequestHead.answer(socket, "")
  }

  const spoken = Effect.fnUntraced(function* (
    socket: TLSSocket,
    header: OpenHeader | undefined,
    hostname: string | undefined,
    dialled?: Socket
  ) {
    const first = beginning(socket)
    if (first === null) return yield* leave(socket, dialled)
    if (new FirstRequestHead.RequestHeadReader().push(first) !== "other" || namesMethod(first.toString("latin1")))
      return yield* follow(socket, header, hostname, dialled)
    const far = dialled ?? (yield* connect(header))
    guardFirstLine(socket, far)
    yield* carry(socket, far, BrowserClients.crumbsOf(crumbs, header))
  })

  /** The origin is heard first, or the client speaks after all. */
  const silent = Effect.fnUntraced(function* (
    socket: TLSSocket,
    header: OpenHeader | undefined,
    hostname: string | undefined
  ) {
    const far = yield* connect(header)
    const who = yield* Effect.raceFirst(
      Effect.as(awaitReadable(socket), "client" as const),
      Effect.as(awaitReadable(far), "origin" as const)
    ).pipe(
      Effect.timeoutOption(bounds.headMillis),
      Effect.onInterrupt(() => Effect.sync(() => void far.destroy()))
    )
    if (Option.isNone(who)) return yield* leave(socket, far)
    if (who.value === "origin") return yield* carry(socket, far, BrowserClients.crumbsOf(crumbs, header))
    return yield* spoken(socket, header, hostname, far)
  })

  const http1 = Effect.fnUntraced(
    function* (socket: TLSSocket, header: OpenHeader | undefined, hostname: string | undefined) {
      const spoke = yield* Effect.timeoutOption(awaitReadable(socket), bounds.silentMillis)
      yield* (Option.isNone(spoke) ? silent : spoken)(socket, header, hostname)
    },
    (serving, socket) => Effect.catchTag(serving, "OriginDown", failed(socket)),
    (serving, socket) => Effect.onInterrupt(serving, () => Effect.sync(() => void socket.destroy()))
  )

  const http2 = Effect.fnUntraced(function* (
    socket: TLSSocket,
    header: OpenHeader | undefined,
    hostname: string | undefined
  ) {
    const run = Effect.runForkWith(yield* Effect.context<never>())
    // Only a `tls.Server` says this of its sockets; until it is said a session waits for the handshake.
    Object.assign(socket, { secureConnecting: false })
    const upstream = new OriginConnections((opened) => {
      const dialled = Effect.match(dialForHttp2(header), {
        onSuccess: (far) => opened(null, far),
        onFailure: () => opened(new OriginAway(), undefined)
      })
      run(dialled)
    })
    let resets = mostResets
    const visitor = visitorOf(header, hostname)
    const crumb = BrowserClients.crumbsOf(crumbs, header)
    const visit = new Http2Visit(socket, {
      visitor,
      upstream,
      refusal: () => undefined,
      ask: (_stream, { ":method": method = "GET", ":path": path = "/" }) => judge(method, path),
      onFault: metrics.fault,
      headMillis: bounds.headMillis,
      idleMillis,
      enter: () => true,
      // The edge shares an agent's streams between addresses.
      mayAsk: () => true,
      onStream: (stream) => stalled.watch(stream, visitor.address),
      onCrumb: () => Math.min(crumb(), maxRestMillis),
      turn: (start) => turns.start(visitor.address, start),
      mayReset: () => --resets >= 0,
      onClose: () => undefined
    })
    const tend = () => {
      resets = Math.min(mostResets, resets + mostResets / 10)
      visit.tend()
      visit.watchHeads()
    }
    yield* tended(tend, () => visit.drain())(closed(socket))
  })

  return { http1, http2 }
}
