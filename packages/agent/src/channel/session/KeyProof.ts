/** Both members prove their keys on a connection, and the session begins. */
import { type Agreement, classical } from "@catenet/crypto/admission/KeyExchange"
import * as Bytes from "@catenet/crypto/Bytes"
import type { KeyPair } from "@catenet/crypto/Suite"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import * as MeshHandshake from "../../mesh/MeshHandshake.ts"
import { NoiseStream } from "../../mesh/NoiseStream.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { TaggedStream } from "./TaggedStream.ts"

const nothing = new Uint8Array()
const noReply = () => Result.succeed(nothing)

/** Announces that the member can move the session to a direct connection. Others send nothing and ignore it. */
const mover = Uint8Array.of(1)
const moverReply = (reply: Uint8Array) => Result.succeed(Bytes.equal(reply, mover) ? mover : nothing)

/** What a failure may mean when offers were at stake. */
const explained =
  ({ isUnanswered, prologue }: Agreement) =>
  (error: MeshHandshake.HandshakeFailed) =>
    error.forUs || (!isUnanswered && prologue.length === 0)
      ? error
      : new MeshHandshake.HandshakeFailed({
          ...error,
          advice:
            "The peer may run with another Noise key, or it went away, or somebody on the way has changed or removed the key exchanges that " +
            "one of the members offers (CT_CHANNEL_POST_QUANTUM). Try again; if it stays, ask the operators of peer and edge."
        })

/** Ends the carrier of a failed handshake. */
const ending = <A, R>(
  proving: Effect.Effect<A, MeshHandshake.HandshakeFailed, R>,
  carrier: Duplex,
  agreement: Agreement = classical
) =>
  proving.pipe(
    Effect.mapError(explained(agreement)),
    Effect.onExit((exit) => Effect.sync(() => exit._tag === "Failure" && carrier.destroy()))
  )

/** The same, where this member would move it: the stream is tagged when the peer would, too, and plain otherwise. */
export const proveAndAsk = Effect.fn("KeyProof.proveAndAsk")(
  function* (carrier: Duplex, noise: KeyPair, peerKey: Uint8Array, isInitiator: boolean, agreement?: Agreement) {
    const metrics = yield* AgentMetrics
    const proved = isInitiator
      ? yield* Effect.map(
          MeshHandshake.begin(carrier, peerKey, mover, noise, agreement),
          ({ said: reply, session }) => ({
            session,
            said: reply
          })
        )
      : yield* Effect.map(
          MeshHandshake.answer(carrier, [noise], moverReply, peerKey, agreement),
          ({ answer: reply, session }) => ({
            session,
            said: reply
          })
        )
    metrics.traffic.handshakes++
    const { said: reply, session } = proved
    const stream = Bytes.equal(reply, mover) ? new TaggedStream(carrier, session) : new NoiseStream(carrier, session)
    guard(stream, metrics.ending(stream))
    return stream
  },
  (proving, carrier, ...[, , , agreement]) => ending(proving, carrier, agreement)
)

/** The session's stream. On failure the carrier is destroyed, before a byte of an application went over it. */
export const prove = Effect.fn("KeyProof.prove")(
  function* (carrier: Duplex, noise: KeyPair, peerKey: Uint8Array, isInitiator: boolean, agreement?: Agreement) {
    const metrics = yield* AgentMetrics
    const { session } = isInitiator
      ? yield* MeshHandshake.begin(carrier, peerKey, nothing, noise, agreement)
      : yield* MeshHandshake.answer(carrier, [noise], noReply, peerKey, agreement)
    metrics.traffic.handshakes++
    const stream = new NoiseStream(carrier, session)
    return guard(stream, metrics.ending(stream))
  },
  (proving, carrier, ...[, , , agreement]) => ending(proving, carrier, agreement)
)
