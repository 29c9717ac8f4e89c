/**
 * Mesh mode: the client and the origin speak Noise end to end, the edge carries sealed frames. After the handshake the origin is
 * dialled at once, since there the server may speak first; only a client that was told of a direct path is waited for, because it
 * is probably on its way there.
 */
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { native } from "@catenet/crypto/native"
import type { KeyPair } from "@catenet/crypto/Suite"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import { abort } from "@catenet/wire/transport/Abort"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Duration, Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Duplex } from "node:stream"
import { Events } from "../observe/Events.ts"
import { Vitals } from "../observe/Vitals.ts"
import type { HostPort } from "../settings/HostPort.ts"
import type { Origin } from "../settings/Settings.ts"
import * as Browser from "../tunnel/Browser.ts"
import * as Datagrams from "./Datagrams.ts"
import * as DirectOffer from "./DirectOffer.ts"
import * as Handshake from "./Handshake.ts"
import { NoiseStream } from "./NoiseStream.ts"

const nothing = new Uint8Array()
/** How long a client that was told of a direct path may take to come back. */
const patience = "10 seconds"
/** The edge's `NO` can mean many things; so many in a row are taken for a revocation. */
const revokedAfter = 3

/** Serves mesh clients of the owner of these keys. */
export const make = Effect.fnUntraced(function* (
  origin: Origin,
  keys: ReadonlyArray<KeyPair>,
  token: Redacted.Redacted<Uint8Array>
) {
  const random = yield* SecureRandom.SecureRandom
  const vitals = yield* Vitals
  const events = yield* Events
  const bytes = Browser.join(origin, vitals)
  const datagrams = Datagrams.join(origin, vitals)
  const udp = origin.protocol === "udp"
  const visitorToken = VisitorToken.of(native, token)

  const shake = Effect.fnUntraced(
    function* (carrier: Duplex, reply: Handshake.Reply) {
      const [took, { answer, session }] = yield* Effect.timed(Handshake.answer(carrier, keys, reply))
      vitals.traffic.handshakes++
      vitals.traffic.handshakeMillis += Duration.toMillis(took)
      const stream = new NoiseStream(carrier, session, { datagrams: udp })
      guard(stream, vitals.ending(stream))
      return { stream, told: answer.length > 0 }
    },
    (shaking) => Effect.provideService(shaking, SecureRandom.SecureRandom, random)
  )

  const failed = (carrier: Duplex, error: Handshake.HandshakeFailed) => {
    vitals.traffic.tunnelsFailed++
    abort(carrier, "refused", error.message)
    return Effect.logInfo(error.message)
  }

  /** Serves what comes through the edge, and tells those who ask where the direct listener is. */
  const relayed = (listener: HostPort | undefined): Browser.Handler => {
    const told = DirectOffer.answer(listener)
    const reply: Handshake.Reply = (payload) => {
      const said = DirectOffer.readPayload(payload)
      if (said === undefined) return Result.fail("the payload of the first message is malformed")
      return Result.succeed(said._tag === "Question" ? told : nothing)
    }
    return Effect.fnUntraced(
      function* (carrier, header) {
        const { stream, told } = yield* shake(carrier, reply)
        if (udp) return yield* datagrams(stream)
        const goesOn =
          !told ||
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

  const ticket: Handshake.Reply = (payload) => {
    const said = DirectOffer.readPayload(payload)
    if (vitals.session.refusals >= revokedAfter) return Result.fail("the edge refuses this tunnel")
    if (said?._tag !== "Ticket") return Result.fail("a direct client showed no ticket")
    // Older capabilities show the routing token itself.
    const byVisitorToken = ConstantTime.equal(said.token, Redacted.value(visitorToken))
    const byRoutingToken = ConstantTime.equal(said.token, Redacted.value(token))
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
        // Anybody can reach the port and say nonsense; only who knows the origin's key is worth an event.
        Effect.andThen(
          error.forUs ? events.record("direct_refused", { reason: error.why }) : Effect.void,
          failed(carrier, error)
        )
      )
  )
  return { relayed, direct }
})
