/**
 * A visitor of a tunnel: look the host up, hand gelb hosts over to where TLS ends, and relay everything else untouched.
 * For passthrough hosts, TLS alerts are the only way to report an error; a closed access window just closes. Where visitors have
 * to log in and the edge does not end their TLS, it cannot ask them: such a host is closed, unless every agent of the tunnel asks
 * them. An authority that validates a host
 * comes past the TLS of a gelb host while the tunnel's admission is open. Through a closed window or a gate it reaches
 * only an agent that answers from an order of its own, never an origin: anybody can send what an authority sends.
 */
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import { admits } from "@catenet/domain/rules/Evaluation"
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { silenceMillis } from "@catenet/proxy/internal/http1/FirstByte"
import type { Enforced } from "@catenet/wire/frames/MuxPolicy"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Clock, Context, Effect, Layer } from "effect"
import type { Socket } from "node:net"
import { AuditLog } from "../audit/AuditLog.ts"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { PeerEdges } from "../mesh/PeerEdges.ts"
import { Counters } from "../observe/Counters.ts"
import { PortVisits } from "../ports/PortVisits.ts"
import { TlsVisits } from "../ports/TlsVisits.ts"
import { Relays } from "../relay/Relays.ts"
import { type Route, Routes } from "../routes/Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import type { Attempts, Delivered } from "../sessions/StreamDelivery.ts"
import { LoginGate } from "../terminate/LoginGate.ts"
import { TerminatedConnections } from "../terminate/TerminatedConnections.ts"
import type { Destination } from "./Dispatch.ts"

/** Fatal TLS alerts (RFC 8446 section 6), sent in the clear before any handshake message of ours. */
const alertCodes = { unrecognizedName: 112, internalError: 80, decodeError: 50 } as const

type Alert = keyof typeof alertCodes

/** The whole record: alert, fatal, code. */
const record = (alert: Alert): Buffer => Buffer.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, alertCodes[alert])

/** Sends the alert and closes. */
const sendTlsAlert = (socket: Socket, alert: Alert): void => {
  socket.end(record(alert))
  closeGracefully(socket)
}

type ToTunnel = Extract<Destination, { readonly _tag: "Tunnel" }>

export class VisitorRouter extends Context.Service<
  VisitorRouter,
  {
    /**
     * The socket is paused with its whole ClientHello put back. A visitor from a peer edge is served here or not at
     * all, so that no visitor travels in circles. Returns what is still to be waited for, which for most visitors is nothing.
     */
    readonly serve: (
      destination: ToTunnel,
      socket: Socket,
      source: "itself" | "peer"
    ) => Effect.Effect<void> | undefined
    readonly open: () => number
  }
>()("edge/frontdoor/VisitorRouter") {
  static readonly make = Effect.gen(function* () {
    const routes = yield* Routes
    const agents = yield* AgentSessions
    const relays = yield* Relays
    const counters = yield* Counters
    const gelb = yield* TerminatedConnections
    const gate = yield* LoginGate
    const peers = yield* PeerEdges
    const audit = yield* AuditLog
    const clock = yield* Clock.Clock
    const places = yield* VisitorPlaces
    const ports = yield* PortVisits
    const tlsVisits = yield* TlsVisits
    let open = 0

    /** Takes the places of a visitor whose bytes are passed on as they come. It is idle until its handshake goes on. */
    const enterUnread = (token: string | undefined, socket: Socket) => {
      const hello = socket.bytesRead
      return places.enter(socket, token, {
        isIdle: () => socket.bytesRead === hello,
        evict: () => void socket.destroy()
      })
    }

    /** Cuts a visitor that sends nothing after its ClientHello. */
    const cutSilent = (socket: Socket) => {
      const hello = socket.bytesRead
      const timer = Scheduler.setTimeout(() => {
        if (socket.bytesRead === hello) socket.destroy()
      }, silenceMillis).unref()
      socket.once("close", () => Scheduler.clearTimeout(timer))
    }

    const enter = (socket: Socket) => {
      open += 1
      socket.once("close", () => {
        open -= 1
      })
    }

    /** What the owner demands that only the agents can do. An agent that applies rules asks visitors to log in as well. */
    const demandedOf = (host: string, token: string): Enforced | undefined =>
      routes.rules(token) !== undefined ? "rules" : gate.closes(host) ? "gate" : undefined

    /** Whether no agent of the tunnel is here that does not do it with the visitors whose TLS it ends. */
    const isAskedByAgents = (token: string, what: Enforced) => {
      const tunnel = agents.tunnel(token)
      return tunnel?.connected !== true || tunnel.enforces(what)
    }

    /**
     * No visitor can be asked to log in here, and no rule be applied: a host that requires it is closed, and its visitors are cut when
     * it begins to require a login, where one of its agents does not do it.
     */
    const enterUnasked = (host: string, token: string, socket: Socket): "closed" | "open" => {
      const demanded = demandedOf(host, token)
      if (demanded !== undefined && !isAskedByAgents(token, demanded)) return "closed"
      const end = () => (isAskedByAgents(token, "gate") ? undefined : void socket.destroy())
      socket.once("close", gate.enter(token, { host, session: undefined, until: null, open: true, end }))
      return "open"
    }

    const seconds = () => toUnixSeconds(clock.currentTimeMillisUnsafe())

    /**
     * What answers a validation now: the tunnel as for any visitor, where `isOpen` to visitors, an agent from its own order, or
     * nothing that is known.
     */
    const waitsFor = (host: string, { admissionUntil, token }: Route, isOpen: boolean) => {
      if (isOpen && admissionUntil !== null && seconds() < admissionUntil) return "tunnel"
      const target = { _tag: "Host", host, challengeOnly: true } as const
      return (agents.tunnel(token)?.candidates(target).length ?? 0) > 0 ? "order" : undefined
    }

    const passthrough = (
      { earlyData, host, speaks }: ToTunnel,
      token: string,
      socket: Socket,
      challengeOnly: boolean
    ): Effect.Effect<void> | undefined => {
      if (!enterUnread(token, socket)) return void sendTlsAlert(socket, "internalError")
      cutSilent(socket)
      const [kind, needs] = speaks === "acme" ? (["acme", "order"] as const) : (["visitor", "certificate"] as const)
      const common = { kind, tls: "passthrough", host, challengeOnly, ...endpointsOf(socket) } as const
      /** Of each attempt: a login may be required meanwhile. */
      const wanted = () => {
        const isGated = kind === "visitor" && gate.closes(host)
        const demanded = kind === "visitor" ? demandedOf(host, token) : undefined
        const enforces = demanded === undefined ? {} : { enforces: demanded }
        const target = { _tag: "Host", host, challengeOnly, needs, ...enforces } as const
        return [target, isGated ? { ...common, gated: true } : common] as const
      }
      const deliver = (attempts?: Attempts) => agents.deliver(token, ...wanted(), attempts)
      // Until it is answered, a visitor can say nothing in TLS that has an effect, but for early data.
      const repeatable = () => !earlyData
      const relay = (delivered: Delivered) => relays.start(delivered, socket, "browser", { repeatable, deliver })
      const now = agents.deliverNow(token, ...wanted())
      if (now !== undefined) return void relay(now)
      return deliver().pipe(
        Effect.map(relay),
        Effect.catchTag("TunnelOffline", () =>
          Effect.sync(() => {
            counters.visitorsOfOfflineTunnels += 1
            sendTlsAlert(socket, "internalError")
          })
        )
      )
    }

    /** The visitor speaks another protocol than HTTP inside TLS, so that there is no page to explain anything on. */
    const endTls = ({ host, ticket }: ToTunnel, token: string, hasCertificate: boolean, socket: Socket) => {
      if (!ports.admits(token, socket.remoteAddress ?? "")) socket.destroy()
      else if (hasCertificate) tlsVisits.accept(socket, host, ticket)
      else sendTlsAlert(socket, "internalError")
    }

    const serveHere = (destination: ToTunnel, route: Route, socket: Socket): Effect.Effect<void> | undefined => {
      const { host, speaks } = destination
      audit.note("front_door_tls", socket, route.token)
      const isGelb = route.tier === "gelb" && gelb.serves(host)
      const inWindow = AccessPolicy.isOpen(routes.policy(route.token), seconds())
      const passes = inWindow && !gate.closes(host)
      const isOpen = passes && !(isGelb && routes.httpOnly(route.token))
      const answers = speaks === "acme" && (isGelb || !passes) ? waitsFor(host, route, isOpen) : undefined
      if (answers !== undefined) return passthrough(destination, route.token, socket, answers === "order")
      if (routes.options(route.token).tls) return void endTls(destination, route.token, isGelb, socket)
      if (isGelb) return void gelb.accept(socket, { isWeb: speaks === "http", host, ticket: destination.ticket })
      if (!inWindow) {
        counters.accessWindowRefusals += 1
        return void socket.destroy()
      }
      if (enterUnasked(host, route.token, socket) === "closed") return void sendTlsAlert(socket, "internalError")
      return passthrough(destination, route.token, socket, false)
    }

    /** Where no peer takes the visitor, `here` does what is to be done. */
    const orHere = (host: string, socket: Socket, here: () => Effect.Effect<void> | undefined) => {
      if (!enterUnread(undefined, socket)) return void sendTlsAlert(socket, "internalError")
      return Effect.flatMap(peers.forward(host, socket), (forwarded) => (forwarded ? undefined : here()) ?? Effect.void)
    }

    const serve = (destination: ToTunnel, socket: Socket, source: "itself" | "peer") => {
      enter(socket)
      const { host } = destination
      const route = routes.find(host)
      if (route === undefined) {
        const refuse = () => {
          counters.visitorsOfUnknownHosts += 1
          return void sendTlsAlert(socket, "unrecognizedName")
        }
        return source === "itself" ? orHere(host, socket, refuse) : refuse()
      }
      const here = () => serveHere(destination, route, socket)
      // Every edge knows every host; where the tunnel has no agent here, it may have one at the edge that it is bound to.
      const isHere = source === "peer" || agents.tunnel(route.token)?.connected === true
      // The other edge would judge this edge's address, which the rules may allow.
      const aboutAddresses = (routes.rules(route.token) ?? []).filter(({ allow }) => allow !== undefined)
      const mayPass = admits(aboutAddresses, socket.remoteAddress ?? "")
      return isHere || !mayPass ? here() : orHere(host, socket, here)
    }

    return VisitorRouter.of({ serve, open: () => open })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide([
      Routes.layer,
      AgentSessions.layer,
      Relays.layer,
      Counters.layer,
      TerminatedConnections.layer,
      LoginGate.layer,
      PeerEdges.layer,
      PortVisits.layer,
      TlsVisits.layer,
      VisitorPlaces.layer
    ])
  )
}
