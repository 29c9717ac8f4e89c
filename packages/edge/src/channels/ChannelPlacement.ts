/**
 * Where a channel is at home among the edges that live. Members that came elsewhere are brought there, as streams of one session
 * with each peer, so that two members meet wherever they arrive. An edge that cannot be reached is passed over for a while.
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
import { ranked } from "./RendezvousHash.ts"

const askEvery = "3 seconds"
/** How long an edge that could not be reached is passed over, unless it is reached before. */
const passOverMillis = 15_000
const reachLimit = "2 seconds"
/** A peer that is gone without a word is noticed by its silence. */
const keepAlive = { everyMillis: 1_000, deadMillis: 3_000 }

const sessionLimits: Partial<MuxLimits> = { maxStreams: 100_000 }

interface Peer {
  readonly id: string
  address: string
  session: Mux | undefined
  passOverUntil: number
  /** One dials, and the others wait for it. */
  readonly dialling: Semaphore.Semaphore
}

export class ChannelPlacement extends Context.Service<
  ChannelPlacement,
  {
    /** Brings a member to the room where its channel is at home. */
    readonly enter: MemberStreams.Enter
    /** Edges that members can be brought to now. */
    readonly peers: () => number
    /** Peers bring no more members here. */
    readonly drain: () => void
    /** Serves the connection of a peer that brings members. */
    readonly serve: (socket: TLSSocket, admission: PeerRoom) => Effect.Effect<void>
  }
>()("edge/channels/ChannelPlacement") {
  static readonly make = Effect.gen(function* () {
    const { adminToken, edgeId, meshRelay, meshRelayPrivate } = yield* Settings
    const { client } = yield* ControlPlane
    const { root } = yield* CertificateAuthority
    const own = yield* LocalRoom
    const room = yield* ChannelRoom
    const relays = yield* Relays
    const failed = yield* makeFailures
    const { ending, report } = yield* ConnectionFaults
    const run = yield* makeServe
    const clock = yield* Clock.Clock
    const token = adminToken && new Uint8Array(Buffer.from(Redacted.value(adminToken), "hex"))
    const peers = new Map<string, Peer>()
    const brought = new Set<Mux>()
    const ca = pem(root)

    const reachable = ({ edge_id, live, peer_addr }: ReportedEdge) =>
      live && edge_id !== edgeId && (meshRelayPrivate || isGlobalEndpoint(peer_addr)) && parseAddress(peer_addr)

    const learn = (edges: ReadonlyArray<ReportedEdge>) => {
      const live = edges.filter(reachable)
      const ids = new Set<string>(live.map(({ edge_id }) => edge_id))
      for (const [id, { session }] of peers) {
        if (ids.has(id)) continue
        session?.close("normal")
        peers.delete(id)
      }
      for (const { edge_id: id, peer_addr: address } of live) {
        const known = peers.get(id)
        if (known !== undefined) known.address = address
        else peers.set(id, { id, address, session: undefined, passOverUntil: 0, dialling: Semaphore.makeUnsafe(1) })
      }
    }

    /** The peer where the channel is at home; none: it is here. */
    const homeOf = (channel: string): Peer | undefined => {
      if (peers.size === 0) return undefined
      const now = clock.currentTimeMillisUnsafe()
      const candidates = Array.from(peers.values()).filter(({ passOverUntil }) => passOverUntil <= now)
      const [first] = ranked(channel, [edgeId, ...candidates.map(({ id }) => id)])
      return first === undefined ? undefined : peers.get(first)
    }

    const begin = Effect.fnUntraced(function* (peer: Peer, socket: TLSSocket, adminToken: Uint8Array) {
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

    const connect = Effect.fnUntraced(function* (peer: Peer) {
      const address = parseAddress(peer.address)
      if (address === undefined || token === undefined) return undefined
      const socket = yield* dial(address, ca, ending)
      return yield* begin(peer, socket, token).pipe(Effect.onInterrupt(() => Effect.sync(() => socket.destroy())))
    })

    /** `again`: also a peer that is passed over. */
    const sessionWith = (peer: Peer, again: boolean) =>
      peer.dialling.withPermits(1)(
        Effect.suspend(() => {
          if (peer.session !== undefined) return Effect.succeed(peer.session)
          if (!again && peer.passOverUntil > clock.currentTimeMillisUnsafe()) return Effect.undefined
          return connect(peer).pipe(
            Effect.timeout(reachLimit),
            Effect.tapError((error) => failed(peer.address, error)),
            Effect.orElseSucceed(() => undefined),
            Effect.tap((session) =>
              Effect.sync(() => {
                if (session === undefined) peer.passOverUntil = clock.currentTimeMillisUnsafe() + passOverMillis
              })
            )
          )
        })
      )

    const enter: MemberStreams.Enter = Effect.fn("ChannelPlacement.enter")(function* (stream, member, early) {
      for (let home = homeOf(member.channel); home !== undefined; home = homeOf(member.channel)) {
        const session = yield* sessionWith(home, false)
        if (session === undefined) continue
        if (yield* MemberStreams.bring(session, relays, stream, member, early)) return
        home.passOverUntil = clock.currentTimeMillisUnsafe() + passOverMillis
      }
      yield* own.enter(stream, member, early)
    })

    const serve = Effect.fn("ChannelPlacement.serve")(function* (socket: TLSSocket, peer: PeerRoom) {
      const expected = token && Redacted.make(token)
      const admitted = meshRelay && expected !== undefined && AdminHeader.matches(expected, Hex.encode(peer.adminToken))
      answerAdmission(socket, admitted)
      if (!admitted) return closeGracefully(socket)
      const session: Mux = new Mux(socket, {
        side: "acceptor",
        challenge: Entropy.randomBytes(32),
        limits: sessionLimits,
        keepAlive,
        onFault: report,
        // Who brings a member has decided that its home is here; deciding anew could send it in circles.
        onStream: (stream) => {
          stream.on("error", () => undefined)
          run(stream, (stream) => MemberStreams.take(stream, own.enter))
        }
      })
      brought.add(session)
      void session.closed.then(() => brought.delete(session))
      socket.resume()
      yield* Effect.promise(() => session.closed)
    })

    const ask = Effect.gen(function* () {
      if (client === undefined) return
      const edges = yield* Effect.option(client.list({ query: {} }))
      if (edges._tag === "Some") learn(edges.value)
      yield* Effect.forEach(Array.from(peers.values()), (peer) => sessionWith(peer, true), {
        concurrency: "unbounded",
        discard: true
      })
      // Those who wait here although their home is elsewhere came while it could not be reached.
      room.sendAway(({ channel }) => homeOf(channel)?.session !== undefined)
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const { session } of peers.values()) session?.close("normal")
        for (const session of brought) session.close("normal")
      })
    )
    const asking = Effect.repeat(ask, Schedule.spaced(askEvery)).pipe(retryForever("looking for the other edges"))
    if (meshRelay && client !== undefined) yield* Effect.forkScoped(asking)

    return ChannelPlacement.of({
      enter,
      serve,
      drain: () => {
        for (const session of brought) session.goAway("this edge is stopping")
      },
      peers: () => Array.from(peers.values()).filter(({ session }) => session !== undefined).length
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide([LocalRoom.layer, ChannelRoom.layer, Relays.layer, ConnectionFaults.layer, Counters.layer])
  )
}
