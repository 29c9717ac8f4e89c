/**
 * Serves QUIC connections at the mesh port (data-plane 2.2): each stream begins with a role. Agents register and bind host names,
 * mesh clients connect to them, and anyone may ask for its observed address.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { addressBlock } from "@catenet/platform/IpAddress"
import { normalServedHost } from "@catenet/wire/frames/HostName"
import {
  decodeQuicRole,
  type DirectListener,
  encodeAddressReply,
  encodePeerReply,
  type QuicRole,
  revokedClose
} from "@catenet/wire/frames/QuicRole"
import { admittedReply, refusedReply } from "@catenet/wire/frames/Role"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { timingSafeEqual } from "node:crypto"
import { AuditLog } from "../audit/AuditLog.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { MeshClients } from "../mesh/MeshClients.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Orders } from "../orders/Orders.ts"
import { Routes } from "../routes/Routes.ts"
import { AgentAdmissions, refused } from "../sessions/AgentAdmissions.ts"
import { AgentPlaces, holderOf, limitsOf } from "../sessions/AgentPlaces.ts"
import type { MuxAgent } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { UnregisteredAgentQuota } from "../sessions/UnregisteredAgentQuota.ts"
import { Settings } from "../settings/Settings.ts"
import { QuicAgentSession } from "./QuicAgentSession.ts"

// Addresses at which agents listen for mesh clients, announced by role `D` (data-plane 2.2) and kept while the tunnel has an
// agent.

/** An agent may announce one for any token; the oldest is dropped. */
const maxListeners = 4_096

class DirectListeners extends Context.Service<
  DirectListeners,
  {
    readonly of: (token: string) => DirectListener | undefined
    readonly advertise: (token: string, listener: DirectListener) => void
  }
>()("edge/quic/QuicPeers/DirectListeners") {
  static readonly make = Effect.gen(function* () {
    const agents = yield* AgentSessions
    const listeners = new BoundedMap<string, DirectListener>(maxListeners)
    agents.observe({
      connected: () => undefined,
      carried: () => undefined,
      disconnected: ({ token }) => void listeners.delete(token)
    })
    return DirectListeners.of({
      of: (token) => listeners.get(token),
      advertise: (token, listener) => void listeners.set(token, listener)
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide(AgentSessions.layer))
}

/** Time limit of the role and its fields. */
const roleMillis = 10_000
/** Registrations of one connection; agents have one. */
const maxRegistrations = 64

interface Peer {
  readonly connection: QuicConnection
  readonly registered: Map<string, MuxAgent>
  readonly close: () => void
}

interface Registering {
  readonly token: Uint8Array
  readonly host?: string
}

const makeState = Effect.gen(function* () {
  const { adminToken, agentConnections } = yield* Settings
  return {
    adminToken,
    admissions: yield* AgentAdmissions,
    agents: yield* AgentSessions,
    audit: yield* AuditLog,
    counters: yield* Counters,
    direct: yield* DirectListeners,
    meshClients: yield* MeshClients,
    orders: yield* Orders,
    unnamed: yield* UnregisteredAgentQuota,
    run: yield* makeServe,
    routes: yield* Routes,
    peers: new Set<Peer>(),
    places: new AgentPlaces(limitsOf(agentConnections)),
    lastId: 0
  }
})
type State = Effect.Success<typeof makeState>

const isAdmin = ({ adminToken }: State, given: Uint8Array) =>
  adminToken !== undefined && timingSafeEqual(given, Buffer.from(Redacted.value(adminToken), "hex"))

const remove = (state: State, peer: Peer, token: string) => {
  const { registered } = peer
  const agent = registered.get(token)
  if (agent === undefined) return
  registered.delete(token)
  state.agents.removeMux(token, agent)
  settlePlace(state, peer)
}

const settlePlace = ({ peers, places, routes }: State, peer: Peer): boolean => {
  if (!peers.has(peer)) return true
  const holder = holderOf(routes, Array.from(peer.registered.keys()), () => false)
  if (holder !== undefined) return places.settle(peer, holder)
  places.enter(peer, addressBlock(peer.connection.remote.address))
  return true
}

/** Registers the token, or another host of it; returns the reply. */
const register = (state: State, peer: Peer, asked: Registering) => {
  const token = Buffer.from(asked.token).toString("hex")
  const before = peer.registered.get(token)
  const isFull = before === undefined && peer.registered.size >= maxRegistrations
  const refusal = isFull ? refused("full") : state.admissions.bytes(token, asked.host)
  if (refusal !== undefined) {
    state.counters.registrationsRefused += 1
    return refusedReply
  }
  const session = before?.session instanceof QuicAgentSession ? before.session : new QuicAgentSession(peer.connection)
  const agent: MuxAgent = {
    id: ++state.lastId,
    session,
    hosts: new Set([
      ...(before?.hosts ?? []),
      ...(asked.host === undefined ? [] : [normalServedHost(asked.host) ?? asked.host])
    ]),
    key: undefined,
    owner: false,
    instance: undefined,
    answersChallenges: false,
    certificates: new Map(),
    answersEchoes: false,
    isQuic: true,
    end: (reason) => {
      session.cut(reason === "revoked" ? "revoked" : "refused", refused(reason).sentence)
      remove(state, peer, token)
      // This protocol has no message for it, so the connection is closed.
      if (peer.registered.size > 0) return
      if (reason === "revoked") peer.connection.close(revokedClose.code, revokedClose.reason)
      else peer.connection.close(0, refused(reason).sentence)
    }
  }
  peer.registered.set(token, agent)
  state.unnamed.settle(peer, peer.registered.keys(), peer.connection.remote.address)
  // `NO` would mean that the token is revoked, but this agent may try again.
  if (!settlePlace(state, peer)) {
    peer.registered.delete(token)
    state.counters.registrationsRefused += 1
    peer.connection.close(0, refused("full").sentence)
    return refusedReply
  }
  state.audit.note("quic_agent", peer.connection.remote, token)
  state.agents.addMux(token, agent)
  if (before !== undefined) state.agents.removeMux(token, before)
  return admittedReply
}

const answer = Effect.fnUntraced(function* (state: State, peer: Peer, stream: CarrierStream, role: QuicRole) {
  const { remote } = peer.connection
  switch (role.role) {
    case "A":
      return void stream.end(register(state, peer, { token: role.token }))
    case "H":
      return void stream.end(register(state, peer, role))
    case "C":
      return yield* state.meshClients.serve(stream, remote)
    case "W":
      return void stream.end(encodeAddressReply(`${remote.address}:${remote.port}`))
    case "D": {
      const token = Buffer.from(role.token).toString("hex")
      const refusal = state.admissions.bytes(token, undefined)
      if (refusal === undefined) state.direct.advertise(token, role.listener)
      return void stream.end(refusal === undefined ? admittedReply : refusedReply)
    }
    case "P": {
      const tunnel = state.agents.visited(Buffer.from(role.token).toString("hex"))
      return void stream.end(encodePeerReply((tunnel && state.direct.of(tunnel.token)) ?? null))
    }
    case "R": {
      const admitted = isAdmin(state, role.adminToken)
      if (admitted) yield* state.orders.revoke(Buffer.from(role.token).toString("hex"))
      return void stream.end(admitted ? admittedReply : refusedReply)
    }
  }
})

const take = (state: State, peer: Peer) => (stream: CarrierStream) =>
  state.run(stream, () =>
    Effect.gen(function* () {
      const reader = new FrameReader(stream)
      const read = yield* Effect.promise(() => reader.next(decodeQuicRole, roleMillis))
      reader.release()
      if (Result.isFailure(read)) return stream.reset("protocol", "no role came")
      yield* answer(state, peer, stream, read.success)
      if (read.success.role !== "C") stream.resume()
    })
  )

export class QuicPeers extends Context.Service<
  QuicPeers,
  {
    readonly serve: (connection: QuicConnection) => void
    readonly open: () => number
    /** Closes every connection. */
    readonly closeAll: () => void
  }
>()("edge/quic/QuicPeers") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    return QuicPeers.of({
      serve: (connection) => {
        const peer: Peer = { connection, registered: new Map(), close: () => connection.close() }
        state.peers.add(peer)
        settlePlace(state, peer)
        connection.take(take(state, peer))
        void connection.closed.then(() => {
          state.peers.delete(peer)
          state.places.remove(peer)
          state.unnamed.remove(peer)
          for (const token of Array.from(peer.registered.keys())) remove(state, peer, token)
        })
      },
      open: () => state.peers.size,
      closeAll: () => {
        for (const { connection } of state.peers) connection.close()
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      AgentAdmissions.layer,
      AgentSessions.layer,
      ConnectionFaults.layer,
      Counters.layer,
      DirectListeners.layer,
      MeshClients.layer,
      Orders.layer,
      Routes.layer,
      UnregisteredAgentQuota.layer
    ])
  )
}
