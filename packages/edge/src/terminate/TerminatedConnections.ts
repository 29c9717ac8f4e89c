/**
 * Visitors of gelb hosts: TLS ends here with the host's own certificate or the wildcard, HTTP is followed just far enough to name the
 * visitor, and what goes wrong is said on a page. A connection that speaks no HTTP is relayed as it is.
 */
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import { trusts } from "@catenet/platform/ForwardedChain"
import { addressBlock } from "@catenet/platform/IpAddress"
import { retryForever } from "@catenet/platform/RetryForever"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TLSSocket } from "@catenet/platform/Sockets"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import * as FinalResponse from "@catenet/proxy/internal/http1/FinalResponse"
import { awaitFirstByte } from "@catenet/proxy/internal/http1/FirstByte"
import { ForwardedStream } from "@catenet/proxy/internal/http1/ForwardedStream"
import { visitorAt } from "@catenet/proxy/internal/http1/RequestHead"
import { Http2Visit } from "@catenet/proxy/internal/http2/Http2Connections"
import { NoAgentServes } from "@catenet/proxy/internal/http2/Http2Exchange"
import { type Connect, UpstreamPool } from "@catenet/proxy/internal/http2/UpstreamPool"
import { type ProxyResponse, closedPage, fullPage, offlinePage, unknownName } from "@catenet/proxy/internal/ProxyPages"
import { RequestTurns } from "@catenet/proxy/internal/RequestTurns"
import { normalHost } from "@catenet/wire/frames/HostName"
import { abort } from "@catenet/wire/transport/Abort"
import { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { StalledStreams } from "@catenet/wire/transport/StalledStreams"
import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import type { Socket } from "node:net"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import type { FailOver } from "../relay/FailOver.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import type { Attempts, Delivered } from "../sessions/StreamDelivery.ts"
import { RequestShares } from "../sessions/StreamShares.ts"
import { Settings } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import { HostCertificates } from "../tls/HostCertificates.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import * as TlsAcceptor from "../tls/TlsAcceptor.ts"
import * as DrainingAgents from "./DrainingAgents.ts"
import { LoginGate } from "./LoginGate.ts"
import { RapidResetLimiter } from "./RapidResetLimiter.ts"
import * as RequestJudge from "./RequestJudge.ts"

const checkEvery = "2 seconds"
/** Answers over HTTP/2 that their visitors do not read. */
const maxStalled = 256
/** How often an HTTP/2 connection is asked about an unfinished header block within the time that a request head has. */
const headChecks = 6

/** What the visitor's ClientHello says. */
export interface VisitorHello {
  /** It offers HTTP/1.1 or HTTP/2 by ALPN. */
  readonly isWeb: boolean
  readonly host: string
  readonly ticket: string | undefined
}

export class TerminatedConnections extends Context.Service<
  TerminatedConnections,
  {
    /** Whether there is a certificate for a host: its own, or the wildcard. */
    readonly serves: (host: string) => boolean
    /** Only for a host that is served. */
    readonly accept: (socket: Socket, hello: VisitorHello) => void
    /** Says to visitors, in the next answer or by GOAWAY, that their connections end. */
    readonly announce: () => void
    /** Lets them finish what they asked and ask no more, and ends connections on which nothing is asked. */
    readonly drain: () => void
    readonly open: () => number
  }
>()("edge/terminate/TerminatedConnections") {
  static readonly make = Effect.gen(function* () {
    const { requestHeadSeconds, trustedProxies, visitorIdleSeconds, wildcard } = yield* Settings
    const isProxy = trustedProxies === undefined ? undefined : trusts(trustedProxies)
    const headMillis = requestHeadSeconds * 1_000
    const idleMillis = visitorIdleSeconds * 1_000
    const routes = yield* Routes
    const agents = yield* AgentSessions
    const relays = yield* Relays
    const gate = yield* LoginGate
    const counters = yield* Counters
    const clock = yield* Clock.Clock
    const resets = yield* RapidResetLimiter
    const places = yield* VisitorPlaces
    const crumbs = new CrumbBudget()
    let connections = 0
    const files = yield* CertificateFiles
    const held = yield* HostCertificates
    const tickets = yield* SessionTickets
    const { ending, report } = yield* ConnectionFaults
    const run = yield* makeServe
    const follow = yield* DrainingAgents.make
    const http2Connections = new Set<Http2Visit>()
    const http1Visits = new Set<ForwardedStream>()
    const requests = new RequestShares()
    const turns = new RequestTurns()
    const stalled = new StalledStreams(maxStalled, report)
    let isLeaving = false

    yield* Effect.forkScoped(
      Effect.sync(() => {
        for (const visit of http2Connections) visit.tend()
        for (const visit of http1Visits) visit.tend(Scheduler.monotonicMillis(), idleMillis)
      }).pipe(Effect.repeat(Schedule.spaced(checkEvery)), retryForever("ending idle connections of visitors"))
    )

    yield* Effect.forkScoped(
      Effect.sync(() => {
        for (const visit of http2Connections) visit.watchHeads()
      }).pipe(
        Effect.repeat(Schedule.spaced(headMillis / headChecks)),
        retryForever("looking for unfinished request heads")
      )
    )

    /** What the edge answers in the place of the agent, if it must. */
    const refusal = (host: string): ProxyResponse | undefined => {
      const route = routes.find(host)
      if (route === undefined) return unknownName(host)
      const now = toUnixSeconds(clock.currentTimeMillisUnsafe())
      const policy = routes.policy(route.token)
      if (policy === null || AccessPolicy.isOpen(policy, now)) return undefined
      counters.accessWindowRefusals += 1
      return closedPage(policy, now)
    }

    const tokenOf = (host: string) => routes.find(host)?.token ?? ""

    const judge = RequestJudge.make({ gate, routes, counters, now: () => clock.currentTimeMillisUnsafe() })

    const headerOf = (socket: TLSSocket, host: string) =>
      ({ kind: "visitor", tls: "terminated", host, tier: "gelb", ...endpointsOf(socket) }) as const

    const deliver = (socket: TLSSocket, host: string, token: string, attempts?: Attempts) =>
      agents.deliver(token, { _tag: "Host", host }, headerOf(socket, host), attempts)

    /** To other agents of the tunnel it is in; the host may have moved meanwhile. */
    const failOverOf = (
      socket: TLSSocket,
      host: string,
      { tunnel }: Delivered,
      repeatable: FailOver["repeatable"],
      found: (delivered: Delivered) => void
    ): FailOver => ({
      repeatable,
      deliver: (attempts) =>
        Effect.tap(deliver(socket, host, tunnel.token, attempts), (delivered) => Effect.sync(() => found(delivered)))
    })

    const deliverFirst = Effect.fnUntraced(function* (socket: TLSSocket, host: string) {
      const delivered = yield* Effect.option(deliver(socket, host, tokenOf(host)))
      if (Option.isNone(delivered)) counters.visitorsOfOfflineTunnels += 1
      return Option.getOrUndefined(delivered)
    })

    const relay = (socket: TLSSocket, host: string, visitor: ForwardedStream, delivered: Delivered) => {
      const kept = { announce: () => visitor.drain(), endIdle: () => visitor.endIdle() }
      const found = (agent: Delivered) => follow(agent, kept, visitor)
      found(delivered)
      relays.start(
        delivered,
        visitor,
        "browser",
        failOverOf(socket, host, delivered, () => visitor.repeatable, found)
      )
    }

    /** Where nothing has to be waited for, a visit begins and ends without a fiber. */
    const admitted = (socket: TLSSocket, host: string, visitor: ForwardedStream) => {
      const now = agents.deliverNow(tokenOf(host), { _tag: "Host", host }, headerOf(socket, host))
      if (now !== undefined) return relay(socket, host, visitor, now)
      return run(socket, () =>
        Effect.map(deliverFirst(socket, host), (delivered) =>
          delivered === undefined ? visitor.explain(offlinePage()) : relay(socket, host, visitor, delivered)
        )
      )
    }

    const followHttp1 = (socket: TLSSocket, host: string, accepted: Socket) => {
      const address = endpointsOf(socket).client?.address ?? "unknown"
      let visitor: ForwardedStream | undefined
      const options = {
        // Orders may change it before the visitor says anything.
        get httpOnly() {
          return routes.httpOnly(tokenOf(host))
        },
        onFault: report,
        ask: judge.connection(socket, host, address, () => visitor?.finish()),
        onCrumbs: (pieces: number) => crumbs.spend(address, pieces, Scheduler.monotonicMillis()),
        rest: (resume: () => void) => turns.rest(address, resume),
        headMillis
      }
      visitor = new ForwardedStream(socket, visitorAt(address, host, isProxy), options)
      const followed = visitor
      http1Visits.add(followed)
      socket.once("close", () => http1Visits.delete(followed))
      if (isLeaving) followed.drain()
      // A visitor who may not pass, or has not asked yet, reaches no agent.
      const holder = { isIdle: () => followed.isIdle, evict: () => followed.evict() }
      followed.whenAdmitted(() => {
        if (places.enter(accepted, tokenOf(host), holder)) return admitted(socket, host, followed)
        return followed.explain(fullPage())
      })
    }

    const http1 = (socket: TLSSocket, name: string, accepted: Socket) => {
      const host = normalHost(name) ?? ""
      const refused = refusal(host)
      if (refused !== undefined) return run(socket, () => FinalResponse.send(socket, refused))
      return awaitFirstByte(socket, ending(socket), (spoke) =>
        spoke ? followHttp1(socket, host, accepted) : void socket.destroy()
      )
    }

    const connect =
      (socket: TLSSocket, host: string): Connect =>
      (far, kept, opened, repeatable) =>
        run(socket, () =>
          Effect.gen(function* () {
            const delivered = yield* deliverFirst(socket, host)
            if (delivered === undefined) return opened(new NoAgentServes())
            if (far.destroyed) abort(delivered.stream)
            opened(null)
            const found = (agent: Delivered) => follow(agent, kept, far)
            found(delivered)
            const failOver = repeatable ? failOverOf(socket, host, delivered, () => true, found) : undefined
            relays.start(delivered, far, "browser", failOver)
          })
        )

    const http2 = (socket: TLSSocket, name: string, accepted: Socket) => {
      // A visitor from a peer edge comes with that edge's address, so that its connection stands for it.
      const visitor =
        accepted instanceof TLSSocket ? `connection ${connections++}` : addressBlock(accepted.remoteAddress ?? "")
      const host = normalHost(name) ?? ""
      const address = endpointsOf(socket).client?.address ?? "unknown"
      const visit = new Http2Visit(socket, {
        visitor: visitorAt(address, host, isProxy),
        upstream: new UpstreamPool(connect(socket, host), report),
        refusal: () => refusal(host),
        ask: judge.request(host, address),
        onFault: report,
        headMillis,
        idleMillis,
        enter: (visit) =>
          places.enter(accepted, tokenOf(host), { isIdle: () => visit.isIdle, evict: () => visit.evict() }),
        onCrumb: () => crumbs.spend(address, 1, Scheduler.monotonicMillis()),
        turn: (start) => turns.start(address, start),
        mayReset: () => resets.spend(tokenOf(host), visitor),
        onStream: (stream) => stalled.watch(stream, address),
        mayAsk: (stream) => requests.begin(tokenOf(host), address, stream),
        onClose: (visit) => http2Connections.delete(visit)
      })
      http2Connections.add(visit)
    }

    const pairs = wildcard === undefined ? undefined : Option.getOrUndefined(yield* files.follow(wildcard))
    const onSecure = (socket: TLSSocket, name: string, accepted: Socket) => {
      turns.note(addressBlock(endpointsOf(socket).client?.address ?? "unknown"))
      return socket.alpnProtocol === "h2" ? http2(socket, name, accepted) : http1(socket, name, accepted)
    }
    const onFailure = () => void (counters.handshakesFailed += 1)
    const terms = { pairs, contextOf: held?.contextOf, tickets, onSecure, onFailure, ending }
    const web = TlsAcceptor.make({ ...terms, alpn: ["h2", "http/1.1"] })
    const other = TlsAcceptor.make({ ...terms, alpn: [] })

    return TerminatedConnections.of({
      serves: (host) => pairs !== undefined || held?.has(host) === true,
      accept: (socket, { host, isWeb, ticket }) => (isWeb ? web : other).accept(socket, host, ticket),
      announce: () => {
        isLeaving = true
        for (const visit of http1Visits) visit.drain()
        for (const visit of http2Connections) visit.announce()
      },
      drain: () => {
        for (const visit of http1Visits) visit.endIdle()
        for (const visit of http2Connections) visit.drain()
      },
      open: () => http1Visits.size + http2Connections.size
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide([
      Routes.layer,
      AgentSessions.layer,
      Relays.layer,
      LoginGate.layer,
      Counters.layer,
      RapidResetLimiter.layer,
      VisitorPlaces.layer,
      ConnectionFaults.layer
    ])
  )
}
