/**
 * Which live edge is the home of a channel. Members that arrive at other edges are forwarded there, as streams of one session per
 * peer, so that two members meet wherever they connect. An unreachable edge is skipped for a while.
 */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { isGlobalEndpoint } from "@catenet/crypto/admission/Address"
import * as Hex from "@catenet/crypto/Hex"
import { pem } from "@catenet/crypto/x509/Certificate"
import type { ReportedEdge } from "@catenet/domain/edges/EdgeNode"
import { Entropy } from "@catenet/platform/Entropy"
import { parseAddress } from "@catenet/platform/NetworkParser"
import { retryForever } from "@catenet/platform/RetryForever"
import type { PeerRoom } from "@catenet/wire/frames/Role"
import { answerAdmission } from "@catenet/wire/transport/EdgeSlot"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Mux } from "@catenet/wire/transport/Mux"
import type { MuxLimits } from "@catenet/wire/transport/MuxLimits"
import { Clock, Context, Effect, Layer, Redacted, Result, Schedule, Semaphore } from "effect"
import { createHash } from "node:crypto"
import type { TLSSocket } from "node:tls"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { ControlPlane } from "../control/ControlPlane.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { dial, introduce, makeFailures, PeerRefused } from "../mesh/PeerDial.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Settings } from "../settings/Settings.ts"
import { ChannelRoom } from "./ChannelRoom.ts"
import { LocalRoom } from "./LocalRoom.ts"
import * as MemberStreams from "./MemberStreams.ts"

/** The home of a channel by rendezvous hashing: all edges agree, and few channels move when an edge comes or goes. */
const scoreOf = (channel: string, edge: string) => createHash("sha256").update(`${channel} ${edge}`).digest("hex")

/** The edges in the channel's order of preference. */
export const ranked = (channel: string, edges: Iterable<string>): ReadonlyArray<string> =>
  Array.from(edges, (edge) => [scoreOf(channel, edge), edge] as const)
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([, edge]) => edge)

const askEvery = "3 seconds"
/** How long an unreachable edge is skipped, unless it is reached earlier. */
const passOverMillis = 15_000
const reachLimit = "2 seconds"
/** Detects peers that disappear without closing the connection. */
const keepAlive = { everyMillis: 1_000, deadMillis: 3_000 }

const sessionLimits: Partial<MuxLimits> = { maxStreams: 100_000 }

interface Peer {
  readonly id: string
  address: string
  session: Mux | undefined
  passOverUntil: number
  /** Concurrent callers wait for the same dial. */
  readonly dialling: Semaphore.Semaphore
}

const makeState = Effect.gen(function* () {
  const { adminToken, edgeId, meshRelay, meshRelayPrivate } = yield* Settings
  const { client } = yield* ControlPlane
  const { root } = yield* CertificateAuthority
  const { ending, report } = yield* ConnectionFaults
  return {
    edgeId,
    meshRelay,
    meshRelayPrivate,
    client,
    own: yield* LocalRoom,
    room: yield* ChannelRoom,
    failed: yield* makeFailures,
    ending,
    report,
    run: yield* makeServe,
    clock: yield* Clock.Clock,
    token: adminToken && new Uint8Array(Buffer.from(Redacted.value(adminToken), "hex")),
    peers: new Map<string, Peer>(),
    brought: new Set<Mux>(),
    ca: pem(root)
  }
})
type State = Effect.Success<typeof makeState>

const reachable = ({ edgeId, meshRelayPrivate }: State, { edge_id, live, peer_addr }: ReportedEdge) =>
  live && edge_id !== edgeId && (meshRelayPrivate || isGlobalEndpoint(peer_addr)) && parseAddress(peer_addr)

const learn = (state: State, edges: ReadonlyArray<ReportedEdge>) => {
  const live = edges.filter((edge) => reachable(state, edge))
  const ids = new Set<string>(live.map(({ edge_id }) => edge_id))
  for (const [id, { session }] of state.peers) {
    if (ids.has(id)) continue
    session?.close("normal")
    state.peers.delete(id)
  }
  for (const { edge_id: id, peer_addr: address } of live) {
    const known = state.peers.get(id)
    if (known !== undefined) known.address = address
    else state.peers.set(id, { id, address, session: undefined, passOverUntil: 0, dialling: Semaphore.makeUnsafe(1) })
  }
}

/** The peer that is the home of the channel; undefined if it is this edge. */
const homeOf = ({ clock, edgeId, peers }: State, channel: string): Peer | undefined => {
  if (peers.size === 0) return undefined
  const now = clock.currentTimeMillisUnsafe()
  const candidates = Array.from(peers.values()).filter(({ passOverUntil }) => passOverUntil <= now)
  const [first] = ranked(channel, [edgeId, ...candidates.map(({ id }) => id)])
  return first === undefined ? undefined : peers.get(first)
}

const begin = Effect.fnUntraced(function* ({ report }: State, peer: Peer, socket: TLSSocket, adminToken: Uint8Array) {
  if (!(yield* introduce(socket, { role: "H", adminToken }))) {
    socket.destroy()
    return yield* new PeerRefused()
  }
  const session = new Mux(socket, { side: "dialler", keepAlive, onFault: report })
  socket.resume()
  const ready = yield* Effect.promise(() => session.ready)
  if (Result.isFailure(ready)) return undefined
  peer.session = session
  peer.passOverUntil = 0
  void session.closed.then(() => {
    if (peer.session === session) peer.session = undefined
  })
  return session
})

const connect = Effect.fnUntraced(function* (state: State, peer: Peer) {
  const address = parseAddress(peer.address)
  if (address === undefined || state.token === undefined) return undefined
  const socket = yield* dial(address, state.ca, state.ending)
  return yield* begin(state, peer, socket, state.token).pipe(
    Effect.onInterrupt(() => Effect.sync(() => socket.destroy()))
  )
})

/** `again`: also tries a peer that is being skipped. */
const sessionWith = (state: State, peer: Peer, again: boolean) =>
  peer.dialling.withPermits(1)(
    Effect.suspend(() => {
      if (peer.session !== undefined) return Effect.succeed(peer.session)
      if (!again && peer.passOverUntil > state.clock.currentTimeMillisUnsafe()) return Effect.undefined
      return connect(state, peer).pipe(
        Effect.timeout(reachLimit),
        Effect.tapError((error) => state.failed(peer.address, error)),
        Effect.orElseSucceed(() => undefined),
        Effect.tap((session) =>
          Effect.sync(() => {
            if (session === undefined) peer.passOverUntil = state.clock.currentTimeMillisUnsafe() + passOverMillis
          })
        )
      )
    })
  )

const serve = Effect.fn("ChannelPlacement.serve")(function* (state: State, socket: TLSSocket, peer: PeerRoom) {
  const expected = state.token && Redacted.make(state.token)
  const admitted =
    state.meshRelay && expected !== undefined && AdminHeader.matches(expected, Hex.encode(peer.adminToken))
  answerAdmission(socket, admitted)
  if (!admitted) return closeGracefully(socket)
  const session: Mux = new Mux(socket, {
    side: "acceptor",
    challenge: Entropy.randomBytes(32),
    limits: sessionLimits,
    keepAlive,
    onFault: state.report,
    // The peer has decided that this edge is the home; deciding again could forward the member in circles.
    onStream: (stream) => {
      stream.on("error", () => undefined)
      state.run(stream, (stream) => MemberStreams.take(stream, state.own.enter))
    }
  })
  state.brought.add(session)
  void session.closed.then(() => state.brought.delete(session))
  socket.resume()
  yield* Effect.promise(() => session.closed)
})

const ask = (state: State) =>
  Effect.gen(function* () {
    if (state.client === undefined) return
    const edges = yield* Effect.option(state.client.list({ query: {} }))
    if (edges._tag === "Some") learn(state, edges.value)
    yield* Effect.forEach(Array.from(state.peers.values()), (peer) => sessionWith(state, peer, true), {
      concurrency: "unbounded",
      discard: true
    })
    // Members waiting here whose home is another edge arrived while that edge was unreachable.
    state.room.sendAway(({ channel }) => homeOf(state, channel)?.session !== undefined)
  })

export class ChannelPlacement extends Context.Service<
  ChannelPlacement,
  {
    /** Takes a member to the room at the home of its channel. */
    readonly enter: MemberStreams.Enter
    /** Number of edges that members can be forwarded to now. */
    readonly peers: () => number
    /** Asks peers to forward no more members. */
    readonly drain: () => void
    /** Serves the connection of a peer that forwards members. */
    readonly serve: (socket: TLSSocket, admission: PeerRoom) => Effect.Effect<void>
  }
>()("edge/channels/ChannelPlacement") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    const relays = yield* Relays
    const enter: MemberStreams.Enter = Effect.fn("ChannelPlacement.enter")(function* (stream, member, early) {
      for (let home = homeOf(state, member.channel); home !== undefined; home = homeOf(state, member.channel)) {
        const session = yield* sessionWith(state, home, false)
        if (session === undefined) continue
        if (yield* MemberStreams.bring(session, relays, stream, member, early)) return
        home.passOverUntil = state.clock.currentTimeMillisUnsafe() + passOverMillis
      }
      yield* state.own.enter(stream, member, early)
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const { session } of state.peers.values()) session?.close("normal")
        for (const session of state.brought) session.close("normal")
      })
    )
    const asking = Effect.repeat(ask(state), Schedule.spaced(askEvery)).pipe(
      retryForever("looking for the other edges")
    )
    if (state.meshRelay && state.client !== undefined) yield* Effect.forkScoped(asking)
    return ChannelPlacement.of({
      enter,
      serve: (socket, peer) => serve(state, socket, peer),
      drain: () => {
        for (const session of state.brought) session.goAway("this edge is stopping")
      },
      peers: () => Array.from(state.peers.values()).filter(({ session }) => session !== undefined).length
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([LocalRoom.layer, ChannelRoom.layer, Relays.layer, ConnectionFaults.layer, Counters.layer])
  )
}
