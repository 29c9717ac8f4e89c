/**
 * A sealed session with the peer of a channel. Broker mode: the member meets its peer at the edge, and goes on over the relay; the
 * edge sees sealed frames. The peer's key is proved before a byte of the application is read or sent.
 */
import * as Address from "@catenet/crypto/admission/Address"
import { native } from "@catenet/crypto/native"
import type { KeyPair } from "@catenet/crypto/Suite"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Effect, Option, Result } from "effect"
import type { Duplex } from "node:stream"
import * as Handshake from "../mesh/Handshake.ts"
import { NoiseStream } from "../mesh/NoiseStream.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Role } from "../settings/ChannelVariables.ts"
import { awaitReadable } from "../tunnel/AwaitReadable.ts"
import * as Ladder from "./Ladder.ts"
import * as Peer from "./Peer.ts"
import type { RungName } from "./Rungs.ts"

/** What carries a session. */
export type Carrier = RungName | "direct" | "gate"

export interface Member {
  readonly role: Role
  readonly noise: KeyPair
  /** The key that the operator of this member has named for the peer. */
  readonly configured: Uint8Array | undefined
}

export interface ChannelSession {
  readonly stream: NoiseStream
  readonly carrier: Carrier
  /** The key that the peer has proved. */
  readonly peerKey: Uint8Array
  readonly peerHolder: Uint8Array | undefined
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

/** On which leg the two members talk, and who the peer is. */
const meet = Effect.fnUntraced(function* (broker: Ladder.Broker, member: Member) {
  while (true) {
    const first = yield* Ladder.rendezvous(broker, Address.relayOnly)
    const known = yield* peerOf(first, broker, member).pipe(
      Effect.tapError(() => Effect.sync(() => first.socket.destroy()))
    )
    if (yield* isSpliced(first)) return { leg: first, peer: known }
    first.socket.end()
    const leg = yield* Ladder.relay(broker, Address.relayOnly).pipe(
      // The peer did not come: it is met anew.
      Effect.catchTag("ParkExpired", () => Effect.undefined)
    )
    if (leg === undefined) continue
    const peer = yield* peerOf(leg, broker, member).pipe(Effect.tapError(() => Effect.sync(() => leg.socket.destroy())))
    return { leg, peer }
  }
})

/** Waits for a peer and opens the session with it. */
export const open = Effect.fn("ChannelSession.open")(function* (broker: Ladder.Broker, member: Member) {
  const { leg, peer } = yield* meet(broker, member)
  const stream = yield* shake(leg.socket, member.noise, peer.noiseKey, peer.isInitiator)
  const session: ChannelSession = {
    stream,
    carrier: leg.rung.name,
    peerKey: peer.noiseKey,
    peerHolder: peer.holder
  }
  return session
})
