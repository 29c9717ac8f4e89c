/**
 * Client side of a mesh tunnel: from a capability to an encrypted stream to the origin. Each stream is a TLS connection (role C),
 * tried at the edge's address and then its port 443, or a stream of a shared QUIC connection. When the agent offers a direct
 * path, streams move to it if it works soon.
 */
import { type Policy, withoutOffers } from "@catenet/crypto/admission/KeyExchange"
import type { Capability } from "@catenet/crypto/Capability"
import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { clause } from "@catenet/domain/values/Sentence"
import { Scheduler } from "@catenet/platform/Scheduler"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { requestRendezvous } from "@catenet/wire/transport/MeshRendezvous"
import type { ProcessFaults } from "@catenet/wire/transport/ProcessFaults"
import { Data, Effect, Option, Redacted, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Duplex } from "node:stream"
import { keepAliveMillis } from "../carrier/OutgoingProxy.ts"
import type { QuicUnreachable } from "../carrier/QuicDial.ts"
import * as MeshHandshake from "../mesh/MeshHandshake.ts"
import { NoiseStream } from "../mesh/NoiseStream.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import { candidates } from "../tunnel/EdgeConnection.ts"
import * as EdgeDial from "../tunnel/EdgeDial.ts"
import * as Origin from "../tunnel/Origin.ts"
import type { DirectPathState } from "./DirectPathState.ts"
import type { QuicPath } from "./QuicPath.ts"

/** The edge demands more work than a client should do, or sent no challenge. */
export class RendezvousFailed extends Data.TaggedError("RendezvousFailed")<{
  readonly edge: string
  readonly why: string
}> {
  override get message() {
    return `edge ${this.edge}: ${this.why}`
  }
}

export interface Target {
  readonly capability: Capability
  readonly edge: HostPort
  /** PEM of the edge's root. */
  readonly ca: string
  readonly datagrams: boolean
  readonly postQuantum: Policy
  /** The state of the direct path; undefined to stay on the edge. */
  readonly route: DirectPathState | undefined
  /** QUIC to the edge, if available. */
  readonly quic?: QuicPath | undefined
  /** An exception in a connection's callback ends only that connection. */
  readonly faults: ProcessFaults
}

const nothing = new Uint8Array()
/** How long the direct path is tried; meanwhile the stream through the edge is ready. */
const directMillis = 1500
/** Bounds the challenge and its proof of work. */
const rendezvousMillis = 10_000
const slice = 4096

/** Searches in slices, so that other streams continue. Gives no answer once its caller is gone. */
const solve = async (challenge: ProofOfWork.Challenge, token: Uint8Array, signal: AbortSignal) => {
  for (let from = 0n; !signal.aborted; from += BigInt(slice)) {
    const found = ProofOfWork.search(native, challenge, token, from, slice)
    if (Option.isSome(found)) return found.value
    await new Promise<void>((resolve) => Scheduler.setImmediate(resolve))
  }
  return 0n
}

const meet = Effect.fnUntraced(function* (socket: Duplex, edge: string, token: Redacted.Redacted<Uint8Array>) {
  const bytes = Redacted.value(token)
  let excessive = false
  const met = yield* Effect.promise((signal) =>
    requestRendezvous(socket, bytes, async (challenge) => {
      excessive = challenge.difficulty > ProofOfWork.maxDifficulty
      return excessive ? 0n : solve(challenge, bytes, signal)
    })
  ).pipe(
    Effect.timeoutOrElse({
      duration: rendezvousMillis,
      orElse: () => Effect.fail(new RendezvousFailed({ edge, why: `not done within ${rendezvousMillis / 1000} s` }))
    })
  )
  if (excessive) return yield* new RendezvousFailed({ edge, why: "it asks for an unreasonable proof of work" })
  if (Result.isFailure(met)) return yield* new RendezvousFailed({ edge, why: `no challenge (${met.failure.reason})` })
})

/** A session through the edge, begun with this payload. */
const on = Effect.fnUntraced(function* (
  { capability, faults, postQuantum }: Target,
  edge: string,
  socket: Duplex,
  payload: Uint8Array
) {
  guard(socket, faults.ending(socket))
  return yield* Effect.gen(function* () {
    yield* meet(socket, edge, capability.routingToken)
    const begun = yield* MeshHandshake.begin(
      socket,
      capability.originKey,
      payload,
      undefined,
      withoutOffers(postQuantum)
    ).pipe(
      Effect.catchTag("HandshakeFailed", ({ advice, why }) =>
        Effect.fail(
          new RendezvousFailed({
            edge,
            why:
              advice !== undefined
                ? `${clause(why)}. ${advice}`
                : `${clause(why)}. The agent is offline, the capability was replaced, or too many clients connect at once.`
          })
        )
      )
    )
    return { ...begun, socket }
  }).pipe(Effect.onError(() => Effect.sync(() => socket.destroy())))
})

const byTls = (target: Target, payload: Uint8Array) => {
  const at = (address: HostPort) =>
    Effect.flatMap(EdgeDial.dial(address, target.ca, ["ct-edge"]), (socket) =>
      on(target, formatHostPort(address), socket, payload)
    )
  const [first, second] = candidates(target.edge, true)
  const attempt = at(first ?? target.edge)
  return second === undefined
    ? attempt
    : Effect.catchTag(attempt, "DialFailed", (error) =>
        Effect.mapError(at(second), (later) => (later._tag === "DialFailed" ? error : later))
      )
}

const byQuic = (target: Target, quic: QuicPath, payload: Uint8Array) =>
  Effect.flatMap(quic.stream, (stream) => on(target, formatHostPort(target.edge), stream, payload))

type Begun = Effect.Effect<
  Effect.Success<ReturnType<typeof on>>,
  EdgeDial.DialFailed | QuicUnreachable | RendezvousFailed,
  SecureRandom.SecureRandom
>

/** By the ways that are wanted, in their order; the error is that of the first one. */
const byEdge = (target: Target, payload: Uint8Array): Begun => {
  const { quic } = target
  if (quic === undefined) return byTls(target, payload)
  const by = (way: "quic" | "tls"): Begun => {
    const going: Begun = way === "quic" ? byQuic(target, quic, payload) : byTls(target, payload)
    return Effect.tap(going, () => Effect.sync(() => quic.worked(way)))
  }
  const [first = "tls", second] = quic.ways()
  return second === undefined
    ? by(first)
    : Effect.catchIf(
        by(first),
        ({ _tag }) => _tag !== "RendezvousFailed",
        (error) => Effect.mapError(by(second), () => error)
      )
}

const guarded = (stream: NoiseStream, faults: ProcessFaults) => guard(stream, faults.ending(stream))

/** A session at the agent's own port; none when that does not work soon. */
const ticketed = ({ capability, datagrams, faults, postQuantum }: Target, socket: Duplex) =>
  Effect.gen(function* () {
    guard(socket, faults.ending(socket))
    const ticket = MeshHandshake.ticket(Redacted.value(capability.routingToken))
    const { session } = yield* MeshHandshake.begin(
      socket,
      capability.originKey,
      ticket,
      undefined,
      withoutOffers(postQuantum)
    ).pipe(Effect.onError(() => Effect.sync(() => socket.destroy())))
    return guarded(new NoiseStream(socket, session, { datagrams }), faults)
  })

const directly = (target: Target, address: HostPort) =>
  Effect.gen(function* () {
    const socket = yield* Origin.dial(address)
    socket.setKeepAlive(true, keepAliveMillis)
    return yield* ticketed(target, socket)
  }).pipe(Effect.timeout(directMillis), Effect.option)

/** The same by QUIC, if the edge has such a port. */
const directlyByQuic = (target: Target, quic: QuicPath) =>
  Effect.gen(function* () {
    const stream = yield* quic.direct
    return stream === undefined ? undefined : yield* ticketed(target, stream)
  }).pipe(
    Effect.timeout(2 * directMillis),
    Effect.catch(() => Effect.as(quic.directFailed, undefined))
  )

/** One stream to the origin. */
export const open = Effect.fn("MeshClient.open")(function* (target: Target) {
  const { datagrams, route } = target
  const known = route?.address()
  if (route !== undefined && known !== undefined) {
    const stream = yield* directly(target, known)
    if (Option.isSome(stream)) return stream.value
    yield* route.failed
  }
  if (route !== undefined && target.quic !== undefined) {
    const stream = yield* directlyByQuic(target, target.quic)
    if (stream !== undefined) return stream
  }
  const asks = route !== undefined && (yield* route.wanted)
  const {
    said: reply,
    session,
    socket
  } = yield* byEdge(target, asks ? MeshHandshake.question : nothing).pipe(
    // An agent that rejects the question is not asked again soon.
    Effect.tapErrorTag("RendezvousFailed", () => (asks ? route.failed : Effect.void))
  )
  const relayed = guarded(new NoiseStream(socket, session, { datagrams }), target.faults)
  const listener = MeshHandshake.readAnswer(reply)
  if (!asks || listener === undefined) return relayed
  const direct = yield* directly(target, listener)
  if (Option.isSome(direct)) {
    relayed.destroy()
    yield* route.found(listener)
    return direct.value
  }
  yield* route.failed
  if (!datagrams) relayed.begin()
  return relayed
})
