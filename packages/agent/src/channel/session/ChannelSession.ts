/**
 * An encrypted session with a channel peer. In broker mode the members meet at the edge and continue over its relay, which sees
 * only encrypted frames. The peer's key is verified before any application data is read or sent.
 */
import * as Address from "@catenet/crypto/admission/Address"
import type { Name as KeyExchangeName } from "@catenet/crypto/admission/KeyExchange"
import * as Bytes from "@catenet/crypto/Bytes"
import type { Rights } from "@catenet/crypto/Permission"
import { type Duration, Effect, Fiber, Option, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import { OutgoingProxy } from "../../carrier/OutgoingProxy.ts"
import type { AgentMetrics, ChannelCarrier } from "../../observe/AgentMetrics.ts"
import { awaitReadable } from "../../tunnel/StreamHelloPeek.ts"
import type { SessionTermination } from "./ChannelFailure.ts"
import * as DirectPath from "./DirectPath.ts"
import * as DirectUpgrade from "./DirectUpgrade.ts"
import * as FallbackDialer from "./FallbackDialer.ts"
import type * as Peer from "./Peer.ts"
import {
  follow,
  followMillis,
  type Joined,
  type Member,
  type Met,
  met,
  peerOf,
  proving,
  relayed,
  relayLeg,
  type SessionStream
} from "./PeerLegs.ts"
import * as PostQuantumPeers from "./PostQuantumPeers.ts"
import * as RelayKeepAlive from "./RelayKeepAlive.ts"
import { TaggedStream } from "./TaggedStream.ts"

export type { Member, Met, SessionStream }

export interface ChannelSession {
  readonly stream: SessionStream
  /** Moves the session to a direct connection if possible: true once it has moved. */
  readonly move: Effect.Effect<boolean, never, AgentMetrics | SecureRandom.SecureRandom> | undefined
  readonly carrier: ChannelCarrier
  readonly keyExchange: KeyExchangeName
  /** Waits until the peer's key exchange is remembered, which the session itself does not wait for. */
  readonly noted: Effect.Effect<void>
  /** Fails when the edge ends a session that bypasses it. */
  readonly tethered: Effect.Effect<never, SessionTermination> | undefined
  /** The peer's proved key. */
  readonly peerKey: Uint8Array
  readonly peerHolder: Uint8Array | undefined
  /** The peer's rights in this session. */
  readonly peerRights: Rights
  readonly peerGrantEnds: bigint | undefined
  /** Encrypted bytes of the connection, including those of the join. */
  readonly bytes: () => { readonly sent: number; readonly received: number }
  /** The current transport of the session. */
  readonly carriedBy: () => ChannelCarrier
}

/** Where this member listens for peers, and the address that it gives them. */
export interface Reach {
  readonly listener: DirectPath.Listener
  readonly advertised: string
}

/** How this member would open a direct path; undefined if it cannot. */
const directWay = (
  peer: Peer.Peer,
  { dialable = DirectPath.dialable, noise }: Member,
  carrierHealth: Reach | undefined
) => {
  const { agreement, noiseKey } = peer
  if (peer.isInitiator) {
    const address = dialable(peer.endpoint)
    return address === undefined ? undefined : DirectPath.dialBriefly(address, noise, noiseKey, agreement)
  }
  return carrierHealth !== undefined && DirectPath.isReachable(carrierHealth.advertised, peer.observed)
    ? DirectPath.awaitBriefly(carrierHealth.listener, noise, noiseKey, agreement)
    : undefined
}

/** Time for a peer that connected directly to come to the relay, too. */
const tetherBound = "3 seconds"

/** A direct path that the relay has not confirmed is closed again. */
const confirmed = (coming: Fiber.Fiber<Option.Option<DirectPath.Direct>>) =>
  Effect.flatMap(
    Fiber.join(coming),
    Option.match({
      onNone: () => Effect.void,
      onSome: ({ stream }) =>
        Effect.delay(
          Effect.sync(() => stream.destroy()),
          tetherBound
        )
    })
  )

/**
 * First the relay, then the direct path, with the relay kept behind it, so that the edge can end the session. The dialed member
 * waits before the other knows that it has come, and uses the relay if something arrives there.
 */
const tethered = Effect.fnUntraced(function* (
  known: Peer.Peer,
  way: Effect.Effect<Option.Option<DirectPath.Direct>, never, AgentMetrics | SecureRandom.SecureRandom>,
  joining: Effect.Effect<Joined | undefined, FallbackDialer.AllStrategiesFailed | Peer.PeerRefused, AgentMetrics>
) {
  const coming = known.isInitiator ? undefined : yield* Effect.forkScoped(way)
  const closing = coming && (yield* Effect.forkScoped(confirmed(coming)))
  const joined = yield* joining
  if (joined === undefined) return undefined
  if (closing !== undefined) yield* Fiber.interrupt(closing)
  const { leg, peer } = joined
  const isSame = known.holder !== undefined && peer.holder !== undefined && Bytes.equal(known.holder, peer.holder)
  const relayed = Effect.as(awaitReadable(leg.stream), Option.none<DirectPath.Direct>())
  const direct = !isSame
    ? Option.none()
    : yield* coming === undefined ? way : Effect.raceFirst(Fiber.join(coming), relayed)
  if (Option.isNone(direct) || direct.value.stream.destroyed) return met(leg, peer)
  return { ...overDirect(direct.value, peer), tether: leg.stream }
}, Effect.scoped)

/** Waits for a peer. The carrier is the caller's. */
export const meet = Effect.fn("ChannelSession.meet")(function* (
  broker: FallbackDialer.Broker,
  member: Member,
  carrierHealth: Reach | undefined
) {
  const endpoint = carrierHealth?.advertised ?? Address.relayOnly
  while (true) {
    const first = yield* FallbackDialer.rendezvous(broker, endpoint)
    const known = yield* peerOf(first, broker, member)
    const completion = yield* RelayKeepAlive.of(first, known.isInitiator)
    if (completion === "spliced") return met(first, known)
    // Only the first message shows it: the peer answers, or leaves for the relay, or the edge closes the connection late.
    const proved = completion === "unsaid" ? yield* Effect.result(proving(first.stream, known, member)) : undefined
    if (proved !== undefined && Result.isSuccess(proved)) return { ...met(first, known), stream: proved.success }
    if (!first.stream.destroyed) first.stream.end()
    const joining = relayLeg(broker, member, endpoint, known)
    if (proved !== undefined && !first.isMarked) {
      const { failure } = proved
      if (!failure.hasLeft) return yield* failure
      const found = yield* Effect.timeoutOption(follow(broker, member, endpoint, known), followMillis)
      return Option.isSome(found) ? found.value : yield* failure
    }
    const isRelayed = broker.node !== undefined || (yield* OutgoingProxy) !== undefined
    const way = isRelayed ? undefined : directWay(known, member, carrierHealth)
    const next = way === undefined ? Effect.map(joining, relayed) : tethered(known, way, joining)
    const found = yield* next
    if (found !== undefined) return found
  }
})

/** The peer on a direct path, where both keys are proved already. */
export const overDirect = ({ socket, stream }: DirectPath.Direct, peer: Met["peer"]): Met => ({
  leg: { stream: socket, socket },
  carrier: DirectPath.carrierOf(socket),
  peer,
  stream
})

/** Proves both keys and opens the session with the peer. */
export const open = Effect.fn("ChannelSession.open")(function* (met: Met, member: Member) {
  const { carrier, leg, peer } = met
  const { noise } = member
  const stream = met.stream ?? (yield* proving(leg.stream, peer, member))
  const noting = yield* Effect.forkDetach(PostQuantumPeers.note(peer, stream.keyExchange))
  const isProxied = (yield* OutgoingProxy) !== undefined
  let direct: DirectPath.Link | undefined
  const move =
    stream instanceof TaggedStream
      ? Effect.map(
          DirectUpgrade.attempt({
            stream,
            noise,
            peerKey: peer.noiseKey,
            isInitiator: peer.isInitiator,
            agreement: peer.agreement,
            reachability: isProxied
              ? { listen: undefined, choose: () => undefined }
              : DirectUpgrade.of(leg.socket.localAddress, peer.observed)
          }),
          (moved) => {
            direct = Option.getOrUndefined(moved)?.socket
            return Option.isSome(moved)
          }
        )
      : undefined
  const session: ChannelSession = {
    stream,
    move,
    tethered: met.tether && RelayKeepAlive.hold(met.tether, () => stream.readableEnded && stream.writableFinished),
    carrier,
    keyExchange: stream.keyExchange,
    noted: Fiber.join(noting),
    peerKey: peer.noiseKey,
    peerHolder: peer.holder,
    peerRights: peer.rights,
    peerGrantEnds: peer.grantEnds,
    bytes: () => ({
      sent: leg.socket.bytesWritten + (direct?.bytesWritten ?? 0),
      received: leg.socket.bytesRead + (direct?.bytesRead ?? 0)
    }),
    carriedBy: () => (direct === undefined ? carrier : DirectPath.carrierOf(direct))
  }
  return session
})

/** Time for the peer to end once this side is done with the session. */
const closeBound = "2 seconds"

/**
 * Ends this side and gives the peer a short time to end its own. Until then written data is in transit: destroying a stream while
 * its peer still sends would discard it.
 */
export const close = Effect.fnUntraced(function* ({ stream }: ChannelSession, bound: Duration.Input = closeBound) {
  yield* Effect.callback<void>((resume) => {
    if (stream.destroyed) return resume(Effect.void)
    stream.once("close", () => resume(Effect.void))
    stream.end()
    stream.resume()
  }).pipe(Effect.timeoutOption(bound))
  stream.destroy()
})
