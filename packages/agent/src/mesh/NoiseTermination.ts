/**
 * Mesh mode: client and origin speak Noise end to end through the edge. After the handshake the origin is dialed at once, because
 * the server may speak first, except for a client that was offered a direct path and will probably use it.
 */
import { type Policy, withoutOffers } from "@catenet/crypto/admission/KeyExchange"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { native } from "@catenet/crypto/native"
import type { KeyPair } from "@catenet/crypto/Suite"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import { abort } from "@catenet/wire/transport/Abort"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Duration, Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Duplex } from "node:stream"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import type { HostPort } from "../settings/HostPort.ts"
import { hostPortOf } from "../settings/OriginAddress.ts"
import * as BrowserClients from "../tunnel/BrowserClients.ts"
import type { OpenOrigin } from "../tunnel/OriginConnections.ts"
import * as MeshHandshake from "./MeshHandshake.ts"
import { NoiseStream } from "./NoiseStream.ts"
import * as UdpRelay from "./UdpRelay.ts"

const nothing = new Uint8Array()
/** Time for a client that was offered a direct path to come back. */
const patience = "10 seconds"
/** The edge's `NO` can mean many things; this many in a row count as a revocation. */
const revokedAfter = 3

const count = ({ meshOpened, traffic }: AgentMetrics["Service"], stream: NoiseStream, took: Duration.Duration) => {
  traffic.handshakes++
  traffic.handshakeMillis += Duration.toMillis(took)
  stream.once("close", meshOpened(stream.keyExchange))
}

/** Serves mesh clients of the owner of these keys. */
export const make = Effect.fnUntraced(function* (
  origin: OpenOrigin,
  keys: ReadonlyArray<KeyPair>,
  token: Redacted.Redacted<Uint8Array>,
  postQuantum: Policy
) {
  const random = yield* SecureRandom.SecureRandom
  const metrics = yield* AgentMetrics
  const events = yield* Events
  const bytes = BrowserClients.joining(origin, metrics).join
  const datagrams = UdpRelay.join(hostPortOf(origin.place), metrics)
  const udp = origin.protocol === "udp"
  const visitorToken = VisitorToken.of(native, token)

  const shake = Effect.fnUntraced(
    function* (carrier: Duplex, reply: MeshHandshake.Reply) {
      const answering = MeshHandshake.answer(carrier, keys, reply, undefined, withoutOffers(postQuantum))
      const [took, { answer, session }] = yield* Effect.timed(answering)
      const stream = new NoiseStream(carrier, session, { datagrams: udp })
      count(metrics, stream, took)
      guard(stream, metrics.ending(stream))
      return { stream, offered: answer.length > 0 }
    },
    (shaking) => Effect.provideService(shaking, SecureRandom.SecureRandom, random)
  )

  const failed = (carrier: Duplex, error: MeshHandshake.HandshakeFailed) => {
    metrics.traffic.tunnelsFailed++
    abort(carrier, "refused", error.message)
    return Effect.logInfo(error.message)
  }

  /** Serves sessions through the edge, and tells clients that ask the direct listener's address. */
  const relayed = (listener: HostPort | undefined): BrowserClients.Handler => {
    const offer = MeshHandshake.answerDirectQuestion(listener)
    const reply: MeshHandshake.Reply = (payload) => {
      const request = MeshHandshake.readPayload(payload)
      if (request === undefined) return Result.fail("the payload of the first message is malformed")
      return Result.succeed(request._tag === "Question" ? offer : nothing)
    }
    return Effect.fnUntraced(
      function* (carrier, header) {
        const { stream, offered } = yield* shake(carrier, reply)
        if (udp) return yield* datagrams(stream)
        const goesOn =
          !offered ||
          (yield* Effect.timeoutOrElse(stream.begun, {
            duration: patience,
            orElse: () => Effect.succeed(false)
          }))
        if (goesOn) yield* bytes(stream, header)
        else stream.destroy()
      },
      (serving, carrier) => Effect.catchTag(serving, "HandshakeFailed", (error) => failed(carrier, error))
    )
  }

  const ticket: MeshHandshake.Reply = (payload) => {
    const request = MeshHandshake.readPayload(payload)
    if (metrics.session.refusals >= revokedAfter) return Result.fail("the edge refuses this tunnel")
    if (request?._tag !== "Ticket") return Result.fail("a direct client showed no ticket")
    // Older capabilities show the routing token itself.
    const byVisitorToken = ConstantTime.equal(request.token, Redacted.value(visitorToken))
    const byRoutingToken = ConstantTime.equal(request.token, Redacted.value(token))
    return byVisitorToken || byRoutingToken
      ? Result.succeed(nothing)
      : Result.fail("a direct client showed a wrong ticket")
  }

  /** Serves a client of the direct listener; `admitted` is called when it has proved itself. */
  const direct = Effect.fnUntraced(
    function* (carrier: Duplex, admitted: () => void) {
      const { stream } = yield* shake(carrier, ticket)
      admitted()
      yield* udp ? datagrams(stream) : bytes(stream, undefined)
    },
    (serving, carrier) =>
      Effect.catchTag(serving, "HandshakeFailed", (error) =>
        // Any machine can reach the port and send nonsense; only a client that knows the origin's key is worth an event.
        Effect.andThen(
          error.forUs ? events.record("direct_refused", { reason: error.why }) : Effect.void,
          failed(carrier, error)
        )
      )
  )
  return { relayed, direct }
})
