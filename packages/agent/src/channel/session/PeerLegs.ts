/** A member, the peer that it meets, and how it joins the peer whom an edge has named: at the relay, or at the first place again where the peer has left. */
import { native } from "@catenet/crypto/native"
import type { KeyPair } from "@catenet/crypto/Suite"
import { Effect, Option, Result } from "effect"
import type { Duplex } from "node:stream"
import type { NoiseStream } from "../../mesh/NoiseStream.ts"
import type { ChannelCarrier } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../../settings/HostPort.ts"
import type { Role } from "../../settings/MemberVariables.ts"
import * as FallbackDialer from "./FallbackDialer.ts"
import * as KeyProof from "./KeyProof.ts"
import * as Peer from "./Peer.ts"
import * as PostQuantumPeers from "./PostQuantumPeers.ts"
import type { TaggedStream } from "./TaggedStream.ts"

export interface Member {
  readonly role: Role
  readonly noise: KeyPair
  /** The peer's key as configured by the operator of this member. */
  readonly configured: Uint8Array | undefined
  /** The only accepted holder, if its operator has named one. */
  readonly expected?: Uint8Array
  /** The address to dial for a peer's endpoint; undefined for none. */
  readonly dialable?: (endpoint: string) => HostPort | undefined
  /** Whether it would move a session from the relay to a direct link. */
  readonly isUpgrading: boolean
}

/** A session's bytes, which are sealed on the way. */
export type SessionStream = NoiseStream | TaggedStream

/** A peer at the other end of a carrier. */
export interface Met {
  /** The session's transport, and the connection whose bytes are counted. */
  readonly leg: Pick<FallbackDialer.BrokerConnection, "stream" | "socket">
  readonly carrier: ChannelCarrier
  readonly peer: Pick<
    Peer.Peer,
    "holder" | "isInitiator" | "noiseKey" | "rights" | "grantEnds" | "observed" | "agreement" | "edge"
  >
  /** The session, if both keys have been proved already. */
  readonly stream?: SessionStream
  /** The relay behind a direct path. */
  readonly tether?: Duplex
}

/** The peer at the other end of a connection, which is closed if it is none that this member may talk to. */
export const peerOf = (
  { acknowledgement, offer, rung, stream }: FallbackDialer.BrokerConnection,
  { grant, postQuantum }: FallbackDialer.Broker,
  { configured, expected, role }: Member
) =>
  Effect.gen(function* () {
    const own = { grant, role, configured, expected, offer, postQuantum }
    const peer = yield* Effect.fromResult(Peer.ofAcknowledgement(native, acknowledgement, own))
    const edge = rung.url?.href ?? formatHostPort(rung.address)
    return yield* PostQuantumPeers.check({ ...peer, edge }, postQuantum)
  }).pipe(Effect.onError(() => Effect.sync(() => stream.destroy())))

export interface Joined {
  readonly leg: FallbackDialer.BrokerConnection
  readonly peer: Peer.Peer
}

export const relayed = (joined: Joined | undefined) => (joined === undefined ? undefined : met(joined.leg, joined.peer))

/** Joins the peer at the relay; undefined if it does not come and must be met again. */
export const relayLeg = Effect.fnUntraced(function* (
  broker: FallbackDialer.Broker,
  member: Member,
  endpoint: string,
  known: Peer.Peer
) {
  const leg = yield* Effect.catchTag(FallbackDialer.relay(broker, endpoint), "ParkExpired", () => Effect.undefined)
  if (leg === undefined) return undefined
  // A relay node knows no keys: the peer is the one that the edge has named, and proves that in the handshake.
  if (broker.node !== undefined) return { leg, peer: known }
  return { leg, peer: yield* peerOf(leg, broker, member) } satisfies Joined
})

/** Proves both keys. */
export const proving = (
  carrier: Duplex,
  { agreement, isInitiator, noiseKey }: Met["peer"],
  { isUpgrading, noise }: Member
) => (isUpgrading ? KeyProof.proveAndAsk : KeyProof.prove)(carrier, noise, noiseKey, isInitiator, agreement)

export const met = (leg: FallbackDialer.BrokerConnection, peer: Peer.Peer): Met => ({
  leg,
  carrier: leg.rung.name,
  peer
})

/** Time for a peer that left an unmarked connection to come to the relay, or to come back. One that left for good does neither. */
export const followMillis = 10_000
/** How long it is waited for at the relay, and then four times as long at the first place: at first so long, then twice as long. */
const firstFollowMillis = 500

/**
 * Meets a peer that has left before it said a word. Another implementation leaves for the relay; one that was restarted comes to the
 * first place again, where an edge may have kept the dead connection.
 */
export const follow = Effect.fnUntraced(function* (
  broker: FallbackDialer.Broker,
  member: Member,
  endpoint: string,
  known: Peer.Peer
) {
  for (let millis = firstFollowMillis; ; millis *= 2) {
    const followed = yield* Effect.timeoutOption(relayLeg(broker, member, endpoint, known), millis)
    if (Option.isSome(followed) && followed.value !== undefined) return met(followed.value.leg, followed.value.peer)
    const first = yield* Effect.timeoutOption(FallbackDialer.rendezvous(broker, endpoint), 4 * millis)
    if (Option.isNone(first)) continue
    const { stream } = first.value
    const peer = yield* peerOf(first.value, broker, member)
    const proved = yield* Effect.result(
      Effect.onInterrupt(proving(stream, peer, member), () => Effect.sync(() => stream.destroy()))
    )
    if (Result.isSuccess(proved)) return { ...met(first.value, peer), stream: proved.success }
    stream.destroy()
    if (!proved.failure.hasLeft) return yield* proved.failure
  }
})
