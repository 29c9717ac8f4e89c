/** Both members prove their keys on a connection, and the session begins. */
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

/** The same, where this member would move it: the stream is tagged when the peer would, too, and plain otherwise. */
export const proveAndAsk = Effect.fn("KeyProof.proveAndAsk")(
  function* (carrier: Duplex, noise: KeyPair, peerKey: Uint8Array, isInitiator: boolean) {
    const metrics = yield* AgentMetrics
    const proved = isInitiator
      ? yield* Effect.map(MeshHandshake.begin(carrier, peerKey, mover, noise), ({ said: reply, session }) => ({
          session,
          said: reply
        }))
      : yield* Effect.map(
          MeshHandshake.answer(carrier, [noise], moverReply, peerKey),
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
  (proving, carrier) =>
    Effect.onExit(proving, (exit) => Effect.sync(() => exit._tag === "Failure" && carrier.destroy()))
)

/** The session's stream. On failure the carrier is destroyed, before a byte of an application went over it. */
export const prove = Effect.fn("KeyProof.prove")(
  function* (carrier: Duplex, noise: KeyPair, peerKey: Uint8Array, isInitiator: boolean) {
    const metrics = yield* AgentMetrics
    const { session } = isInitiator
      ? yield* MeshHandshake.begin(carrier, peerKey, nothing, noise)
      : yield* MeshHandshake.answer(carrier, [noise], noReply, peerKey)
    metrics.traffic.handshakes++
    const stream = new NoiseStream(carrier, session)
    return guard(stream, metrics.ending(stream))
  },
  (proving, carrier) =>
    Effect.onExit(proving, (exit) => Effect.sync(() => exit._tag === "Failure" && carrier.destroy()))
)
