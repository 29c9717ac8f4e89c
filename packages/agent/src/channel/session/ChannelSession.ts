/**
 * A sealed session with the peer of a channel. Broker mode: the member meets its peer at the edge, and goes on over the relay; the
 * edge sees sealed frames. The peer's key is proved before a byte of the application is read or sent.
 */
import * as Address from "@catenet/crypto/admission/Address"
import { native } from "@catenet/crypto/native"
import type { Rights } from "@catenet/crypto/Permission"
import type { KeyPair } from "@catenet/crypto/Suite"
import { Effect, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { NoiseStream } from "../../mesh/NoiseStream.ts"
import type { AgentMetrics, ChannelCarrier } from "../../observe/AgentMetrics.ts"
import type { Role } from "../../settings/ChannelVariables.ts"
import { awaitReadable } from "../../tunnel/AwaitReadable.ts"
import * as DirectPath from "./DirectPath.ts"
import * as DirectUpgrade from "./DirectUpgrade.ts"
import * as KeyProof from "./KeyProof.ts"
import * as Ladder from "./Ladder.ts"
import * as Peer from "./Peer.ts"
import * as Reachability from "./Reachability.ts"
import { TaggedStream } from "./TaggedStream.ts"

export interface Member {
  readonly role: Role
  readonly noise: KeyPair
  /** The key that the operator of this member has named for the peer. */
  readonly configured: Uint8Array | undefined
  /** The only holder that it talks to, where its operator has named one. */
  readonly expected?: Uint8Array
  /** Whether it would move a session from the relay to a direct link. */
  readonly isUpgrading: boolean
}

/** A session's bytes, which are sealed on the way. */
export type SessionStream = NoiseStream | TaggedStream

export interface ChannelSession {
  readonly stream: SessionStream
  /** Moves the session to a direct link, where it can: true once it has moved. */
  readonly move: Effect.Effect<boolean, never, AgentMetrics | SecureRandom.SecureRandom> | undefined
  readonly carrier: ChannelCarrier
  /** The key that the peer has proved. */
  readonly peerKey: Uint8Array
  readonly peerHolder: Uint8Array | undefined
  /** What the peer may do in this session. */
  readonly peerRights: Rights
  readonly peerGrantEnds: bigint | undefined
  /** Sealed bytes of the connection, those of joining included. */
  readonly bytes: () => { readonly sent: number; readonly received: number }
}

/** The edge closes a leg behind the acknowledgement at once, or not at all. */
const closeMillis = 3_000

/** Whether the leg of a rendezvous is the session's own: its peer is in no phase, so the edge has joined the two. */
const isSpliced = Effect.fnUntraced(function* ({ isMarked, stream }: Ladder.Leg) {
  if (!isMarked) return true
  const readable = yield* Effect.timeoutOption(awaitReadable(stream), closeMillis)
  return Option.getOrElse(readable, () => true)
})

const peerOf = ({ acknowledgement }: Ladder.Leg, { grant }: Ladder.Broker, { configured, expected, role }: Member) =>
  Effect.fromResult(Peer.ofAcknowledgement(native, acknowledgement, { grant, role, configured, expected }))

/** A peer at the other end of a carrier. */
export interface Met {
  /** What carries the session, and the connection below, whose bytes are counted. */
  readonly leg: { readonly stream: Duplex; readonly socket: Socket }
  readonly carrier: ChannelCarrier
  readonly peer: Pick<Peer.Peer, "holder" | "isInitiator" | "noiseKey" | "rights" | "grantEnds" | "observed">
  /** The session, where both keys are proved already. */
  readonly stream?: NoiseStream
}

/** Where this member listens for peers, and what it calls that place to them. */
export interface Reach {
  readonly listener: DirectPath.Listener
  readonly advertised: string
}

/** The direct path to a peer that was met; none where there is none, or it does not work. */
const directly = Effect.fnUntraced(function* (peer: Peer.Peer, { noise }: Member, reach: Reach | undefined) {
  if (!peer.isInitiator) {
    if (reach === undefined || !DirectPath.isReachable(reach.advertised, peer.observed)) return Option.none()
    return yield* DirectPath.awaitBriefly(reach.listener, noise, peer.noiseKey)
  }
  const address = DirectPath.dialable(peer.endpoint)
  return address === undefined ? Option.none() : yield* DirectPath.dialBriefly(address, noise, peer.noiseKey)
})

/** Waits for a peer. The carrier is the caller's. */
export const meet = Effect.fn("ChannelSession.meet")(function* (
  broker: Ladder.Broker,
  member: Member,
  reach: Reach | undefined
) {
  const endpoint = reach?.advertised ?? Address.relayOnly
  while (true) {
    const first = yield* Ladder.rendezvous(broker, endpoint)
    const known = yield* peerOf(first, broker, member).pipe(
      Effect.tapError(() => Effect.sync(() => first.stream.destroy()))
    )
    if (yield* isSpliced(first)) return met(first, known)
    first.stream.end()
    const direct = yield* directly(known, member, reach)
    if (Option.isSome(direct)) return overDirect(direct.value, known)
    const leg = yield* Ladder.relay(broker, endpoint).pipe(
      // The peer did not come: it is met anew.
      Effect.catchTag("ParkExpired", () => Effect.undefined)
    )
    if (leg === undefined) continue
    // A relay node knows no keys: the peer is the one that the edge has named, and proves that in the handshake.
    if (broker.node !== undefined) return met(leg, known)
    const peer = yield* peerOf(leg, broker, member).pipe(Effect.tapError(() => Effect.sync(() => leg.stream.destroy())))
    return met(leg, peer)
  }
})

const met = (leg: Ladder.Leg, peer: Peer.Peer): Met => ({ leg, carrier: leg.rung.name, peer })

/** The peer on a direct path, where both keys are proved already. */
export const overDirect = ({ socket, stream }: DirectPath.Direct, peer: Met["peer"]): Met => ({
  leg: { stream: socket, socket },
  carrier: "direct",
  peer,
  stream
})

/** Proves both keys and opens the session with the peer. */
export const open = Effect.fn("ChannelSession.open")(function* (met: Met, { isUpgrading, noise }: Member) {
  const { carrier, leg, peer } = met
  const prove = isUpgrading ? KeyProof.proveAndAsk : KeyProof.prove
  const stream = met.stream ?? (yield* prove(leg.stream, noise, peer.noiseKey, peer.isInitiator))
  let direct: Socket | undefined
  const move =
    stream instanceof TaggedStream
      ? Effect.map(
          DirectUpgrade.attempt({
            stream,
            noise,
            peerKey: peer.noiseKey,
            isInitiator: peer.isInitiator,
            reachability: Reachability.of(leg.socket.localAddress, peer.observed)
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
    carrier,
    peerKey: peer.noiseKey,
    peerHolder: peer.holder,
    peerRights: peer.rights,
    peerGrantEnds: peer.grantEnds,
    bytes: () => ({
      sent: leg.socket.bytesWritten + (direct?.bytesWritten ?? 0),
      received: leg.socket.bytesRead + (direct?.bytesRead ?? 0)
    })
  }
  return session
})

/** How long the peer may take to end, when this side is done with the session. */
const closeBound = "2 seconds"

/** Ends this side and lets the peer end its own, for a short while. */
export const close = Effect.fnUntraced(function* ({ stream }: ChannelSession) {
  yield* Effect.callback<void>((resume) => {
    if (stream.destroyed) return resume(Effect.void)
    stream.once("close", () => resume(Effect.void))
    stream.end()
    stream.resume()
  }).pipe(Effect.timeoutOption(closeBound))
  stream.destroy()
})
