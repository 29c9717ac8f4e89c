/**
 * A visitor of a tunnel: look the host up, respect the access window, end TLS for gelb hosts and for nobody else, find an
 * agent, relay. Everything that goes wrong is said to the visitor in the language it understands: a page on gelb, a TLS
 * alert on passthrough.
 */
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import * as AccessWindow from "@catenet/domain/rules/AccessWindow"
import { normalHost } from "@catenet/wire/frames/HostName"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { ForwardedStream } from "../gelb/ForwardedStream.ts"
import * as LastWord from "../gelb/LastWord.ts"
import { closedPage, offlinePage } from "../gelb/Pages.ts"
import { makeServe } from "../listen/Connections.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../Settings.ts"
import * as PemFiles from "../tls/PemFiles.ts"
import * as TlsAcceptor from "../tls/TlsAcceptor.ts"
import * as TlsAlert from "./TlsAlert.ts"

export interface VisitsShape {
  /** The socket is paused with its whole ClientHello put back. */
  readonly serve: (host: string, acme: boolean, socket: Socket) => Effect.Effect<void>
  readonly open: () => number
}

type Header = Omit<OpenHeader, "registration">

const endpoints = (socket: Socket): Pick<Header, "client" | "server"> => ({
  ...(socket.remoteAddress === undefined || socket.remotePort === undefined
    ? {}
    : { client: { address: plainAddress(socket.remoteAddress), port: socket.remotePort } }),
  ...(socket.localAddress === undefined || socket.localPort === undefined
    ? {}
    : { server: { address: plainAddress(socket.localAddress), port: socket.localPort } })
})

/** IPv4 visitors of a dual-stack listener look like IPv6; origins shall not have to know. */
const plainAddress = (address: string) => (address.startsWith("::ffff:") ? address.slice(7) : address)

const make = Effect.gen(function* () {
  const { wildcard, caps } = yield* Settings
  const routes = yield* Routes
  const agents = yield* AgentSessions
  const relays = yield* Relays
  const counters = yield* Counters
  const clock = yield* Clock.Clock
  const run = yield* makeServe
  const wildcardPairs = wildcard === undefined ? Option.none() : yield* PemFiles.follow(wildcard)
  let open = 0

  const enter = (socket: Socket) => {
    open += 1
    socket.once("close", () => {
      open -= 1
    })
  }

  /** The policy that keeps visitors of the tunnel out now, if there is one. */
  const closedBy = (token: string) => {
    const policy = routes.policy(token)
    return AccessWindow.isOpen(policy, Math.floor(clock.currentTimeMillisUnsafe() / 1_000)) ? null : policy
  }

  const passthrough = Effect.fn("Visits.passthrough")(
    function* (host: string, token: string, acme: boolean, socket: Socket) {
      const header: Header = { kind: acme ? "acme" : "visitor", tls: "passthrough", host, ...endpoints(socket) }
      const { tunnel, stream } = yield* agents.deliver(token, { _tag: "Host", host }, header)
      yield* relays.run(tunnel, socket, stream)
    },
    (visit, _host, _token, _acme, socket) =>
      Effect.catchTag(visit, "TunnelOffline", () =>
        Effect.sync(() => {
          counters.visitorsOfOfflineTunnels += 1
          TlsAlert.refuse(socket, "internalError")
        })
      )
  )

  const gelb = Effect.fn("Visits.gelb")(
    function* (socket: TLSSocket) {
      const host = normalHost(socket.servername || "") ?? ""
      const route = routes.find(host)
      if (route === undefined) return socket.destroy()
      const closed = closedBy(route.token)
      if (closed !== null) {
        counters.accessWindowRefusals += 1
        return yield* LastWord.say(socket, closedPage(closed, Math.floor(clock.currentTimeMillisUnsafe() / 1_000)))
      }
      if (!(yield* LastWord.speaks(socket))) return socket.destroy()
      const header: Header = { kind: "visitor", tls: "terminated", host, tier: "gelb", ...endpoints(socket) }
      const { tunnel, stream } = yield* agents.deliver(route.token, { _tag: "Host", host }, header)
      const address = plainAddress(socket.remoteAddress ?? "unknown")
      yield* relays.run(tunnel, new ForwardedStream(socket, { address, hostname: host }), stream)
    },
    (visit, socket) =>
      Effect.catchTag(visit, "TunnelOffline", () => {
        counters.visitorsOfOfflineTunnels += 1
        return LastWord.say(socket, offlinePage())
      })
  )

  const acceptor = Option.map(wildcardPairs, (pairs) =>
    TlsAcceptor.make({
      pairs,
      alpn: [],
      onSecure: (socket) => run(socket, gelb),
      onFailure: () => {
        counters.handshakesFailed += 1
      }
    })
  )

  const serve = Effect.fnUntraced(function* (host: string, acme: boolean, socket: Socket) {
    if (open >= caps.browserTunnels) return socket.destroy()
    enter(socket)
    const route = routes.find(host)
    if (route === undefined) {
      counters.visitorsOfUnknownHosts += 1
      return TlsAlert.refuse(socket, "unrecognizedName")
    }
    if (route.tier === "gelb" && !acme && Option.isSome(acceptor)) return acceptor.value.accept(socket)
    if (!acme && closedBy(route.token) !== null) {
      counters.accessWindowRefusals += 1
      return socket.destroy()
    }
    yield* passthrough(host, route.token, acme, socket)
  })

  const shape: VisitsShape = { serve, open: () => open }
  return shape
})

export class Visits extends Context.Service<Visits, VisitsShape>()("edge/frontdoor/Visits") {
  static readonly layer = Layer.effect(Visits, make)
}
