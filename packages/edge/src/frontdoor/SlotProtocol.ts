/**
 * The byte protocol of data-plane section 5: one TLS connection is one admission. Agents park as slots, mesh clients and peer
 * edges are passed on, and anything else is closed without a reply, which tells the peer to fall back.
 */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import * as Hex from "@catenet/crypto/Hex"
import { addressBlock } from "@catenet/platform/IpAddress"
import { normalHost, normalServedHost } from "@catenet/wire/frames/HostName"
import { decodePeerPort } from "@catenet/wire/frames/PeerPort"
import type { Admission, AdmissionHead, PeerEdge } from "@catenet/wire/frames/Role"
import { answerAdmission, EdgeSlot, readAdmission } from "@catenet/wire/transport/EdgeSlot"
import { peekClientHello } from "@catenet/wire/transport/HelloPeek"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import type { TLSSocket } from "node:tls"
import { AuditLog } from "../audit/AuditLog.ts"
import { ChannelPlacement } from "../channels/ChannelPlacement.ts"
import { MeshClients } from "../mesh/MeshClients.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { PortVisits } from "../ports/PortVisits.ts"
import { Routes } from "../routes/Routes.ts"
import { AgentAdmissions } from "../sessions/AgentAdmissions.ts"
import { AgentPlaces, holderOf, limitsOf, type Place } from "../sessions/AgentPlaces.ts"
import type { SlotAgent } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { UnregisteredAgentQuota } from "../sessions/UnregisteredAgentQuota.ts"
import { Settings } from "../settings/Settings.ts"
import { dispatchVisitor } from "./Dispatch.ts"
import { VisitorRouter } from "./VisitorRouter.ts"

/**
 * Visitors from a peer edge (role `M`): the peer shows the admin token and names the host or the public port, gets `OK` when it
 * is served here, and sends the visitor's bytes, at a host from the ClientHello on.
 */
class PeerVisitors extends Context.Service<
  PeerVisitors,
  { readonly serve: (socket: TLSSocket, peer: PeerEdge) => Effect.Effect<void> }
>()("edge/frontdoor/SlotProtocol/PeerVisitors") {
  static readonly make = Effect.gen(function* () {
    const { adminToken, meshRelay } = yield* Settings
    const routes = yield* Routes
    const visitorRouter = yield* VisitorRouter
    const counters = yield* Counters
    const ports = yield* PortVisits
    const expected = adminToken && Redacted.make(new Uint8Array(Buffer.from(Redacted.value(adminToken), "hex")))

    const isPeer = ({ adminToken }: PeerEdge) =>
      meshRelay && expected !== undefined && AdminHeader.matches(expected, Hex.encode(adminToken))

    const serve = Effect.fn("SlotProtocol.serve")(function* (socket: TLSSocket, peer: PeerEdge) {
      const port = decodePeerPort(peer.host)
      const host = normalHost(peer.host)
      const admitted = isPeer(peer) && (port !== undefined || (host !== undefined && routes.find(host) !== undefined))
      answerAdmission(socket, admitted)
      if (!admitted) return closeGracefully(socket)
      if (port !== undefined) return yield* ports.fromPeer(port, socket)
      const hello = yield* Effect.promise(() => peekClientHello(socket))
      if (Result.isFailure(hello)) return void socket.destroy()
      const destination = dispatchVisitor(hello.success)
      if (destination._tag !== "Tunnel" || destination.host !== host) return void socket.destroy()
      counters.visitorsFromPeers += 1
      yield* visitorRouter.serve(destination, socket, "peer") ?? Effect.void
    })

    return PeerVisitors.of({ serve })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([Routes.layer, VisitorRouter.layer, Counters.layer, PortVisits.layer])
  )
}

type AgentAdmission = Extract<Admission, { readonly role: "A" | "K" | "B" | "L" | "F" }>

/** A connection and its slot. */
interface SlotPlace extends Place {
  slot: EdgeSlot | undefined
}

type AgentHead = Extract<AdmissionHead, { readonly token: Uint8Array }>

/** Peer edges and mesh clients do not count against the agents' places. */
const isAgent = (head: AdmissionHead): head is AgentHead => head.role !== "C" && head.role !== "M" && head.role !== "H"

const closed = (socket: TLSSocket) => new Promise<void>((resolve) => void socket.once("close", () => resolve()))

export class SlotProtocol extends Context.Service<
  SlotProtocol,
  {
    readonly serve: (socket: TLSSocket) => Effect.Effect<void>
    /** Closes every parked slot; slots that carry a visitor are left alone. */
    readonly closeParked: () => void
    readonly parked: () => number
  }
>()("edge/frontdoor/SlotProtocol") {
  static readonly make = Effect.gen(function* () {
    const { agentConnections } = yield* Settings
    const admissions = yield* AgentAdmissions
    const agents = yield* AgentSessions
    const counters = yield* Counters
    const { report } = yield* ConnectionFaults
    const meshClients = yield* MeshClients
    const audit = yield* AuditLog
    const peerVisitors = yield* PeerVisitors
    const channelPlacement = yield* ChannelPlacement
    const unnamed = yield* UnregisteredAgentQuota
    const routes = yield* Routes
    const parked = new Set<EdgeSlot>()
    /** The waiting slots of a tunnel replace each other, below. */
    const places = new AgentPlaces({ ...limitsOf(agentConnections), perTunnel: Number.POSITIVE_INFINITY })
    const perTunnel = Math.max(1, Math.ceil(agentConnections / 4))

    const park = Effect.fnUntraced(function* (socket: TLSSocket, admission: AgentAdmission, place: SlotPlace) {
      const token = Buffer.from(admission.token).toString("hex")
      const given = "host" in admission ? admission.host : undefined
      const host = given === undefined ? undefined : (normalServedHost(given) ?? given)
      const refused = admissions.bytes(token, host)
      answerAdmission(socket, refused === undefined)
      if (refused !== undefined) {
        counters.registrationsRefused += 1
        closeGracefully(socket)
        yield* Effect.logDebug("agent refused").pipe(Effect.annotateLogs({ code: refused.code, host }))
        return
      }
      audit.note("tcp_fallback", socket, token)
      const slot = new EdgeSlot(socket, admission.role, { onFault: report })
      const agent: SlotAgent = { slot, host }
      parked.add(slot)
      // Agents of one tunnel replace each other, never those of another tunnel.
      if ((agents.tunnel(token)?.parked ?? 0) >= perTunnel) agents.tunnel(token)?.closeOldestSlot()
      unnamed.settle(slot, [token], socket.remoteAddress)
      place.slot = slot
      agents.park(token, agent)
      yield* Effect.promise(() => Promise.race([slot.lost, closed(socket)]))
      places.remove(place)
      unnamed.remove(slot)
      parked.delete(slot)
      agents.unpark(token, agent)
    })

    /** Whether the slot may wait for visitors of the tunnel; checked before its host is read. */
    const hasPlace = (place: SlotPlace, token: string) => {
      const holder = holderOf(routes, [token], () => place.slot?.state === "taken")
      return holder === undefined || places.settle(place, holder)
    }

    const serve = Effect.fn("SlotProtocol.serve")(function* (socket: TLSSocket) {
      const place: SlotPlace = { close: () => void socket.destroy(), slot: undefined }
      places.enter(place, addressBlock(socket.remoteAddress ?? ""))
      socket.once("close", () => places.remove(place))
      const acceptHead = (head: AdmissionHead) => {
        if (isAgent(head)) return hasPlace(place, Buffer.from(head.token).toString("hex"))
        places.remove(place)
        return true
      }
      const read = yield* Effect.promise(() => readAdmission(socket, { acceptHead }))
      if (Result.isFailure(read)) {
        if (read.failure.reason === "full") closeGracefully(socket)
        else socket.destroy()
        return
      }
      const admission = read.success
      if (admission.role === "C") return yield* meshClients.serve(socket)
      if (admission.role === "M") return yield* peerVisitors.serve(socket, admission)
      if (admission.role === "H") return yield* channelPlacement.serve(socket, admission)
      yield* park(socket, admission, place)
    })

    return SlotProtocol.of({
      serve,
      closeParked: () => {
        for (const slot of parked) slot.close()
      },
      parked: () => parked.size
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      AgentAdmissions.layer,
      AgentSessions.layer,
      Counters.layer,
      ConnectionFaults.layer,
      MeshClients.layer,
      PeerVisitors.layer,
      ChannelPlacement.layer,
      Routes.layer,
      UnregisteredAgentQuota.layer
    ])
  )
}
