/**
 * Visitors of public ports on their way to an agent of the tunnel. Where none is connected here, the edge that has one gets them, and
 * serves them by the visitor's own address.
 */
import { isOpen } from "@catenet/domain/edges/AccessPolicy"
import type { PortProtocol } from "@catenet/domain/edges/PublicPort"
import { admits } from "@catenet/domain/rules/Evaluation"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import type { PeerPort } from "@catenet/wire/frames/PeerPort"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Clock, Context, Effect, Layer } from "effect"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { AuditLog } from "../audit/AuditLog.ts"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { PeerEdges } from "../mesh/PeerEdges.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { visitorTokenOf } from "../routes/TunnelName.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"

/** Agents of a tunnel with a port serve no host name. */
const target = { _tag: "Mesh" } as const

/** Visitors of one protocol for whom another edge is being looked up and dialled, which costs both edges a handshake. */
const maxDialling = 128

type Endpoints = Parameters<typeof endpointsOf>[0]

/** A connection, or a session of a UDP client. */
export type PortVisitor = Duplex & Endpoints

const makeState = Effect.gen(function* () {
  return {
    agents: yield* AgentSessions,
    audit: yield* AuditLog,
    clock: yield* Clock.Clock,
    counters: yield* Counters,
    dialling: { tcp: new FairPlaces(maxDialling), udp: new FairPlaces(maxDialling) },
    peers: yield* PeerEdges,
    places: yield* VisitorPlaces,
    relays: yield* Relays,
    routes: yield* Routes,
    run: yield* makeServe
  }
})
type State = Effect.Success<typeof makeState>
type Ends = ReturnType<typeof endpointsOf>

const isAdmitted = ({ clock, counters, routes }: State, token: string, address: string): boolean => {
  if (!isOpen(routes.policy(token), toUnixSeconds(clock.currentTimeMillisUnsafe()))) {
    counters.accessWindowRefusals += 1
    return false
  }
  const isAllowed = admits(routes.rules(token) ?? [], address)
  if (!isAllowed) counters.refusedBy.allow += 1
  return isAllowed
}

const headerOf = (ends: Ends) => ({ kind: "visitor", tls: "none", ...ends }) as const

const here = ({ agents, relays }: State, token: string, visitor: Duplex, ends: Ends, offline: () => void) =>
  agents.deliver(token, target, headerOf(ends)).pipe(
    Effect.map((delivered) => relays.start(delivered, visitor, "browser")),
    Effect.catchTag("TunnelOffline", () => Effect.sync(offline))
  )

/** False if no other edge takes the visitor, or no more can be asked for one. */
const elsewhere = Effect.fnUntraced(function* (
  { agents, dialling, peers }: State,
  token: string,
  protocol: PortProtocol,
  visitor: Duplex,
  { client, server }: Ends
) {
  if (!peers.isOn || agents.tunnel(token)?.connected === true) return false
  if (client === undefined || server === undefined) return false
  const holder = { isIdle: () => false, evict: () => void visitor.destroy() }
  const leave = dialling[protocol].take(addressBlock(client.address), holder)
  if (leave === undefined) return false
  const visit = { protocol, tunnel: visitorTokenOf(token), port: server.port, client }
  return yield* Effect.ensuring(peers.forwardPort(visit, visitor, leave), Effect.sync(leave))
})

/** Where no agent is ready, the visitor of a port of a protocol may go to another edge. */
const pass = (
  state: State,
  token: string,
  protocol: PortProtocol | undefined,
  visitor: PortVisitor,
  offline: () => void
) => {
  const { agents, relays, run } = state
  const ends = endpointsOf(visitor)
  const ready = agents.deliverNow(token, target, headerOf(ends))
  if (ready !== undefined) return relays.start(ready, visitor, "browser")
  return run(visitor, () =>
    Effect.flatMap(
      protocol === undefined ? Effect.succeed(false) : elsewhere(state, token, protocol, visitor, ends),
      (isForwarded) => (isForwarded ? Effect.void : here(state, token, visitor, ends, offline))
    )
  )
}

const fromPeer = Effect.fn("PortVisits.fromPeer")(function* (
  state: State,
  { client, port, protocol, tunnel }: PeerPort,
  socket: TLSSocket
) {
  const { agents, audit, counters, places } = state
  counters.visitorsFromPeers += 1
  const token = agents.visited(tunnel)?.token
  if (token === undefined || !isAdmitted(state, token, client.address)) return void socket.destroy()
  const before = socket.bytesRead
  const visitor = {
    get destroyed() {
      return socket.destroyed
    },
    remoteAddress: client.address,
    once: (event: "close", left: () => void) => socket.once(event, left)
  }
  const holder = { isIdle: () => socket.bytesRead === before, evict: () => void socket.destroy() }
  if (!places.enter(visitor, token, holder)) return void socket.destroy()
  audit.note(protocol === "tcp" ? "tcp_port" : "udp_port", client, token)
  const { server } = endpointsOf(socket)
  const ends = { client, ...(server === undefined ? {} : { server: { ...server, port } }) }
  yield* here(state, token, socket, ends, () => {
    counters.visitorsOfOfflineTunnels += 1
    socket.end()
    closeGracefully(socket)
  })
})

export class PortVisits extends Context.Service<
  PortVisits,
  {
    /** Whether visitors are forwarded to other edges. */
    readonly forwards: boolean
    /** Whether the access window and the rules of the tunnel let a visitor of this address in. */
    readonly admits: (token: string, address: string) => boolean
    /** Passes an admitted visitor on. Calls back if no agent of the tunnel is connected anywhere. */
    readonly pass: (token: string, protocol: PortProtocol, visitor: PortVisitor, offline: () => void) => void
    /** The same, and to no other edge. */
    readonly passHere: (token: string, visitor: PortVisitor, offline: () => void) => void
    /** Serves a visitor whom a peer edge has admitted and forwards. */
    readonly fromPeer: (visit: PeerPort, socket: TLSSocket) => Effect.Effect<void>
  }
>()("edge/ports/PortVisits") {
  static readonly make = Effect.map(makeState, (state) =>
    PortVisits.of({
      forwards: state.peers.isOn,
      admits: (token, address) => isAdmitted(state, token, address),
      pass: (token, protocol, visitor, offline) => pass(state, token, protocol, visitor, offline),
      passHere: (token, visitor, offline) => pass(state, token, undefined, visitor, offline),
      fromPeer: (visit, socket) => fromPeer(state, visit, socket)
    })
  )
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      AgentSessions.layer,
      ConnectionFaults.layer,
      Counters.layer,
      PeerEdges.layer,
      Relays.layer,
      Routes.layer,
      VisitorPlaces.layer
    ])
  )
}
