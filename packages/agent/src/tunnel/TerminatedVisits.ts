/**
 * Visitors whose TLS this agent ends: the proxy follows their HTTP, as it does at the edge while that ends TLS, so that nothing
 * changes for visitor and origin when the name turns end-to-end. Who speaks another protocol is the origin's from its first byte on.
 */
import { FairPlaces, type Holder } from "@catenet/platform/FairPlaces"
import { trusts } from "@catenet/platform/ForwardedChain"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { GateVerdict } from "@catenet/proxy/internal/GateVerdict"
import * as FinalResponse from "@catenet/proxy/internal/http1/FinalResponse"
import { ForwardedStream } from "@catenet/proxy/internal/http1/ForwardedStream"
import { type Visitor, visitorAt } from "@catenet/proxy/internal/http1/RequestHead"
import { Http2Visit } from "@catenet/proxy/internal/http2/Http2Connections"
import { fullPage } from "@catenet/proxy/internal/ProxyPages"
import { RequestTurns } from "@catenet/proxy/internal/RequestTurns"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import { StalledStreams } from "@catenet/wire/transport/StalledStreams"
import { Effect, Option } from "effect"
import type { ClientRequestArgs } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import { type Enforcement, enterUnasked, refusalOf } from "../policy/TunnelGate.ts"
import * as TunnelGate from "../policy/TunnelGate.ts"
import type { AgentCardResponder } from "./AgentCardResponder.ts"
import * as BrowserClients from "./BrowserClients.ts"
import * as FirstRequestHead from "./FirstRequestHead.ts"
import type { OpenOrigin } from "./OriginConnections.ts"
import { awaitReadable, awaitReadableWithin } from "./StreamHelloPeek.ts"

/** As at the edge, where `CT_EDGE_VISITOR_IDLE_SECS` has this default. */
const idleMillis = 75_000
const tendMillis = 2_000
/** What a client of a stream sends in pieces comes one piece at a time. */
const gatherMillis = 20
/** A client whose small frames would have to wait for longer is read again: what it sent meanwhile is counted. */
const maxRestMillis = 30_000
/** So many requests of a connection may be reset before they are answered; each one that is answered gives one back. */
const mostResets = 200
/** Responses over HTTP/2 that clients do not read. */
const maxStalled = 128

/** A request whose origin is down is answered, not repeated. */
class OriginAway extends Error {}

/** HTTP/1.1 connections to the origin for one client that speaks HTTP/2: kept alive and used again, never shared between clients. */
class OriginConnections extends KeepAliveAgent {
  readonly #connect: (opened: (error: Error | null, socket: Socket | undefined) => void) => void
  constructor(connect: (opened: (error: Error | null, socket: Socket | undefined) => void) => void) {
    super()
    this.#connect = connect
  }

  override createConnection(
    _options: ClientRequestArgs,
    opened?: (error: Error | null, stream: Duplex) => void
  ): undefined {
    this.#connect((error, socket) => {
      // Node's types want a stream with the error, Node itself does not look at it.
      if (opened !== undefined) opened(error, socket as Duplex)
      else socket?.destroy()
    })
    return undefined
  }
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

export interface Surroundings {
  readonly bounds: FirstRequestHead.Bounds
  readonly card: AgentCardResponder | undefined
  readonly crumbs: CrumbBudget
  /** What the owner demands of visitors; absent where this agent enforces nothing. */
  readonly enforcement: Enforcement | undefined
}

export const make = (origin: OpenOrigin, metrics: AgentMetrics["Service"], surroundings: Surroundings) => {
  const { bounds, card, crumbs, enforcement } = surroundings
  const { carry, connect, failed } = BrowserClients.joining(origin, metrics)
  const stalled = new StalledStreams(maxStalled, metrics.fault)
  const turns = new RequestTurns()
  const dialForHttp2 = BrowserClients.dial(origin, metrics)
  const isProxy = origin.trustedProxies === undefined ? undefined : trusts(origin.trustedProxies)
  const visitorOf = (header: OpenHeader | undefined, hostname: string | undefined): Visitor =>
    visitorAt(header?.client?.address ?? "unknown", hostname ?? header?.host, isProxy)
  const places = new FairPlaces(bounds.visits)
  /** Takes a place until the socket closes. Returns how to leave it before; nothing where there is none for the address. */
  const enter = (socket: TLSSocket, header: OpenHeader | undefined, holder: Holder) => {
    const leave = places.take(addressBlock(header?.client?.address ?? "unknown"), holder)
    if (leave !== undefined) socket.once("close", leave)
    return leave
  }
  const judge = (method: string, target: string): Promise<GateVerdict> | undefined => card?.judge(method, target)
  const isHttpOnly = () => enforcement?.policy.isHttpOnly === true
  const refusal = () => (enforcement === undefined ? undefined : refusalOf(enforcement))

  /** Another protocol than HTTP, whose visitor nobody can ask: it ends when visitors have to log in. */
  const noteUnasked = (socket: TLSSocket, header: OpenHeader | undefined, hostname: string | undefined) => {
    if (enforcement === undefined) return
    const host = visitorOf(header, hostname).hostname ?? ""
    const leave = enterUnasked(enforcement, host, () => socket.destroy())
    socket.once("close", leave)
    if (isHttpOnly()) socket.destroy()
  }

  const tending = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  /** Tends the visit as long as `serving` runs, by one timer for all: a fiber for each would cost an idle visit memory. */
  const tended = (tend: () => void, drain: () => void) => (serving: Effect.Effect<void>) =>
    Effect.suspend(() => {
      const look = guarded(metrics.fault, () => {
        if (metrics.draining.is) drain()
        tend()
      })
      tending.add(look)
      timer ??= Scheduler.setInterval(() => tending.forEach((each) => each()), tendMillis).unref()
      // Not before the visit is served: one that has just spoken would be taken for idle, and be closed by a drain.
      Scheduler.setImmediate(() => tending.has(look) && look())
      const leave = Effect.sync(() => {
        tending.delete(look)
        if (tending.size === 0) timer = void Scheduler.clearInterval(timer)
      })
      return Effect.ensuring(serving, leave)
    })

  const follow = (
    socket: TLSSocket,
    header: OpenHeader | undefined,
    hostname: string | undefined,
    dialled?: Socket
  ) => {
    let visit: ForwardedStream | undefined
    const visitor = visitorOf(header, hostname)
    const asked = enforcement?.gate.connection(socket, visitor.hostname ?? "", visitor.address, () => visit?.finish())
    const followed = new ForwardedStream(socket, visitor, {
      onFault: metrics.fault,
      get httpOnly() {
        return isHttpOnly()
      },
      headMillis: bounds.headMillis,
      rests: { ...bounds.pace, gatherMillis },
      ask: TunnelGate.overHttp1(enforcement, asked, visitor, judge),
      onCrumbs: BrowserClients.crumbsOf(crumbs, header),
      rest: (resume) => turns.rest(visitor.address, resume)
    })
    visit = followed
    const admitted = Effect.callback<boolean>((resume) => {
      followed.whenAdmitted(() => {
        const hasPlace = enter(socket, header, { isIdle: () => followed.isIdle, evict: () => followed.evict() })
        if (hasPlace === undefined) followed.explain(fullPage())
        resume(Effect.succeed(hasPlace !== undefined))
      })
      socket.once("close", () => resume(Effect.succeed(false)))
      if (socket.destroyed) resume(Effect.succeed(false))
    })
    const serving = Effect.gen(function* () {
      if (yield* admitted) yield* carry(followed, dialled ?? (yield* connect(header)), undefined)
      else dialled?.destroy()
    }).pipe(
      Effect.catchTag("OriginDown", failed(followed, header)),
      Effect.andThen(closed(socket)),
      Effect.onInterrupt(() => Effect.sync(() => void followed.destroy()))
    )
    const drain = () => {
      followed.drain()
      followed.endIdle()
    }
    return tended(() => followed.tend(Scheduler.monotonicMillis(), idleMillis), drain)(serving)
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
    const refused = refusal()
    if (refused !== undefined) {
      dialled?.destroy()
      return yield* Effect.andThen(FinalResponse.send(socket, refused), closed(socket))
    }
    const first = beginning(socket)
    if (first === null) return yield* leave(socket, dialled)
    const isHttp = new FirstRequestHead.RequestHeadReader().push(first) !== "other"
    if (isHttp || isHttpOnly() || FirstRequestHead.namesMethod(first.toString("latin1")))
      return yield* follow(socket, header, hostname, dialled)
    if (enter(socket, header, { isIdle: () => false, evict: () => void socket.destroy() }) === undefined)
      return yield* leave(socket, dialled)
    const far = dialled ?? (yield* connect(header))
    noteUnasked(socket, header, hostname)
    FirstRequestHead.guardFirstLine(socket, far)
    yield* carry(socket, far, BrowserClients.crumbsOf(crumbs, header))
  })

  /** The origin is heard first, or the client speaks after all. */
  const silent = Effect.fnUntraced(function* (
    socket: TLSSocket,
    header: OpenHeader | undefined,
    hostname: string | undefined
  ) {
    const leftMillis = bounds.headMillis - bounds.silentMillis
    // Only another protocol begins with the origin.
    if (isHttpOnly() || refusal() !== undefined) {
      const spoke = yield* awaitReadableWithin(socket, leftMillis)
      return yield* spoke === undefined ? leave(socket, undefined) : spoken(socket, header, hostname)
    }
    let isIdle = true
    const leavePlace = enter(socket, header, { isIdle: () => isIdle, evict: () => void socket.destroy() })
    if (leavePlace === undefined) return yield* leave(socket, undefined)
    const far = yield* connect(header)
    const who = yield* Effect.raceFirst(
      Effect.as(awaitReadable(socket), "client" as const),
      Effect.as(awaitReadable(far), "origin" as const)
    ).pipe(
      Effect.timeoutOption(leftMillis),
      Effect.onInterrupt(() => Effect.sync(() => void far.destroy()))
    )
    if (Option.isNone(who)) return yield* leave(socket, far)
    if (who.value === "origin") {
      isIdle = false
      noteUnasked(socket, header, hostname)
      return yield* carry(socket, far, BrowserClients.crumbsOf(crumbs, header))
    }
    leavePlace()
    return yield* spoken(socket, header, hostname, far)
  })

  const http1 = Effect.fnUntraced(
    function* (socket: TLSSocket, header: OpenHeader | undefined, hostname: string | undefined) {
      const spoke = yield* awaitReadableWithin(socket, bounds.silentMillis)
      yield* (spoke === undefined ? silent : spoken)(socket, header, hostname)
    },
    (serving, socket, header) => Effect.catchTag(serving, "OriginDown", failed(socket, header)),
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
      const onSuccess = (far: Socket) => opened(null, far)
      run(Effect.match(dialForHttp2(header), { onSuccess, onFailure: () => opened(new OriginAway(), undefined) }))
    })
    let resets = mostResets
    const visitor = visitorOf(header, hostname)
    const crumb = BrowserClients.crumbsOf(crumbs, header)
    const visit = new Http2Visit(socket, {
      visitor,
      upstream,
      refusal,
      ask: TunnelGate.overHttp2(enforcement, visitor, judge),
      onFault: metrics.fault,
      headMillis: bounds.headMillis,
      idleMillis,
      enter: (visit) => enter(socket, header, { isIdle: () => visit.isIdle, evict: () => visit.evict() }) !== undefined,
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
