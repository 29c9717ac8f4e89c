/** Both members prove their keys on a carrier, whatever that is, and the session begins. */
import type { KeyPair } from "@catenet/crypto/Suite"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import * as Handshake from "../../mesh/Handshake.ts"
import { NoiseStream } from "../../mesh/NoiseStream.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"

const nothing = new Uint8Array()
const noReply = () => Result.succeed(nothing)

/** The session's stream. On failure the carrier is destroyed, before a byte of an application went over it. */
export const prove = Effect.fn("KeyProof.prove")(
  function* (carrier: Duplex, noise: KeyPair, peerKey: Uint8Array, isInitiator: boolean) {
    const metrics = yield* AgentMetrics
    const { session } = isInitiator
      ? yield* Handshake.begin(carrier, peerKey, nothing, noise)
      : yield* Handshake.answer(carrier, [noise], noReply, peerKey)
    metrics.traffic.handshakes++
    const stream = new NoiseStream(carrier, session)
    return guard(stream, metrics.ending(stream))
  },
  (proving, carrier) =>
    Effect.onExit(proving, (exit) => Effect.sync(() => exit._tag === "Failure" && carrier.destroy()))
)
