/**
 * A sealed session with the peer of a channel. Broker mode: the member meets its peer at the edge, and goes on over the relay; the
 * edge sees sealed frames. The peer's key is proved before a byte of the application is read or sent.
 */
import * as Address from "@catenet/crypto/admission/Address"
import { native } from "@catenet/crypto/native"
import type { KeyPair } from "@catenet/crypto/Suite"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Effect, Option, Result } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as Handshake from "../../mesh/Handshake.ts"
import { NoiseStream } from "../../mesh/NoiseStream.ts"
import { AgentMetrics, type ChannelCarrier } from "../../observe/AgentMetrics.ts"
import type { Role } from "../../settings/ChannelVariables.ts"
import { awaitReadable } from "../../tunnel/AwaitReadable.ts"
import * as Ladder from "./Ladder.ts"
import * as Peer from "./Peer.ts"

export interface Member {
  readonly role: Role
  readonly noise: KeyPair
  /** The key that the operator of this member has named for the peer. */
  readonly configured: Uint8Array | undefined
}

export interface ChannelSession {
  readonly stream: NoiseStream
  readonly carrier: ChannelCarrier
  /** The key that the peer has proved. */
  readonly peerKey: Uint8Array
  readonly peerHolder: Uint8Array | undefined
  /** Sealed bytes of the connection, those of joining included. */
  readonly bytes: () => { readonly sent: number; readonly received: number }
}

const nothing = new Uint8Array()
const noReply = () => Result.succeed(nothing)

/** The edge closes a leg behind the acknowledgement at once, or not at all. */
const closeMillis = 3_000

/** Proves both keys on a carrier. */
const shake = Effect.fn("ChannelSession.shake")(
  function* (carrier: Duplex, noise: KeyPair, peerKey: Uint8Array, isInitiator: boolean) {
    const metrics = yield* AgentMetrics
    const { session } = isInitiator
      ? yield* Handshake.begin(carrier, peerKey, nothing, noise)
      : yield* Handshake.answer(carrier, [noise], noReply, peerKey)
    metrics.traffic.handshakes++
    const stream = new NoiseStream(carrier, session)
    return guard(stream, metrics.ending(stream))
  },
  (shaking, carrier) =>
    Effect.onExit(shaking, (exit) => Effect.sync(() => exit._tag === "Failure" && carrier.destroy()))
)

/** Whether the leg of a rendezvous is the session's own: its peer is in no phase, so the edge has joined the two. */
const isSpliced = Effect.fnUntraced(function* ({ isMarked, socket }: Ladder.Leg) {
  if (!isMarked) return true
  const readable = yield* Effect.timeoutOption(awaitReadable(socket), closeMillis)
  return Option.getOrElse(readable, () => true)
})

const peerOf = ({ acknowledgement }: Ladder.Leg, { grant }: Ladder.Broker, { configured, role }: Member) =>
  Effect.fromResult(Peer.ofAcknowledgement(native, acknowledgement, { grant, role, configured }))

/** A peer at the other end of a carrier, before either key is proved. */
export interface Met {
  readonly socket: Socket
  readonly carrier: ChannelCarrier
  readonly peer: Peer.Peer
}

/** Waits for a peer. The carrier is the caller's. */
export const meet = Effect.fn("ChannelSession.meet")(function* (broker: Ladder.Broker, member: Member) {
  while (true) {
    const first = yield* Ladder.rendezvous(broker, Address.relayOnly)
    const known = yield* peerOf(first, broker, member).pipe(
      Effect.tapError(() => Effect.sync(() => first.socket.destroy()))
    )
    if (yield* isSpliced(first)) return met(first, known)
    first.socket.end()
    const leg = yield* Ladder.relay(broker, Address.relayOnly).pipe(
      // The peer did not come: it is met anew.
      Effect.catchTag("ParkExpired", () => Effect.undefined)
    )
    if (leg === undefined) continue
    const peer = yield* peerOf(leg, broker, member).pipe(Effect.tapError(() => Effect.sync(() => leg.socket.destroy())))
    return met(leg, peer)
  }
})

const met = ({ rung, socket }: Ladder.Leg, peer: Peer.Peer): Met => ({ socket, carrier: rung.name, peer })

/** Proves both keys and opens the session with the peer. */
export const open = Effect.fn("ChannelSession.open")(function* ({ carrier, peer, socket }: Met, { noise }: Member) {
  const stream = yield* shake(socket, noise, peer.noiseKey, peer.isInitiator)
  const session: ChannelSession = {
    stream,
    carrier,
    peerKey: peer.noiseKey,
    peerHolder: peer.holder,
    bytes: () => ({ sent: socket.bytesWritten, received: socket.bytesRead })
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
