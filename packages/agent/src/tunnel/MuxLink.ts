/** The preferred transport: one TLS connection on which the edge opens a stream for each client. */
import { native } from "@catenet/crypto/native"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { proofMessage, type RegisterRequest } from "@catenet/wire/frames/MuxRegister"
import { channelBinding } from "@catenet/wire/transport/ChannelBinding"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import type { Registration as Accepted } from "@catenet/wire/transport/Registrations"
import { Effect, Redacted, Result } from "effect"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { version } from "../Version.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import { refused, type Registration, RegistrationLost } from "./Registration.ts"

export type Serve = (stream: Duplex, header: OpenHeader | undefined) => void

const answerMillis = 10_000
/**
 * A dead edge is noticed within half a minute, whatever its socket reports; not sooner, because after an outage of ten seconds
 * TCP retries only at twenty.
 */
const keepAlive = { everyMillis: 5_000, deadMillis: 24_000 }

/** An enrolled agent's proof of possession, bound to this TLS session; undefined otherwise. */
const proofOf = (registration: Registration, socket: TLSSocket, challenge: Uint8Array | undefined) => {
  if (registration.identity === undefined || challenge === undefined) return {}
  const binding = channelBinding(socket, challenge)
  if (Result.isFailure(binding)) return {}
  const seed = Redacted.value(registration.identity)
  const { agentId } = registration
  const message = proofMessage({
    token: Redacted.value(registration.token),
    agentId,
    challenge,
    binding: binding.success
  })
  return {
    proof: { publicKey: native.ed25519.publicKey(seed), signature: native.ed25519.sign(seed, message) }
  }
}

const certificateOf = ({ certificate, host }: Registration) =>
  host === undefined || certificate?.state === undefined
    ? undefined
    : { certificates: [{ host, ...certificate.state }] }

/** Reports changes of the certificate to the edge; `said` is the status that it knows. */
const follow = (mux: Mux, held: Accepted, { certificate, host }: Registration, sent: CertificateState | undefined) => {
  if (certificate === undefined || host === undefined) return
  const heeds = held.answer.heedsCertificates === true
  const report = (state: CertificateState) => {
    held.report({ host, ...state })
    return heeds ? mux.ping() : Promise.resolve()
  }
  void mux.closed.then(certificate.join({ heeds, say: report }, sent))
}

/** Follows what the edge says of the tunnel's policy. */
const heed = (mux: Mux, held: Accepted, { policy }: Registration) => {
  if (policy === undefined) return
  held.onPolicy((revision) => policy.announced(revision))
  void mux.closed.then(policy.joined(held.answer.announcesPolicy === true))
}

/** The registration request for an edge that sent this challenge, or none. */
export const requestOf = (
  registration: Registration,
  socket: TLSSocket,
  challenge: Uint8Array | undefined
): RegisterRequest => ({
  token: Redacted.value(registration.token),
  hosts: registration.host === undefined ? [] : [registration.host],
  agentId: registration.agentId,
  ...proofOf(registration, socket, challenge),
  wishes: { proxyProtocol: registration.proxyProtocol },
  version,
  answersChallenges: true,
  ...(registration.onEcho && { answersEchoes: true }),
  ...certificateOf(registration),
  ...(registration.instance && { instance: registration.instance }),
  ...(registration.enforces && { enforces: registration.enforces })
})

/** The last data is in transit: closing the socket would discard it. The session limits the time. */
const flushed = (socket: TLSSocket) =>
  Effect.callback<void>((resume) => {
    if (socket.destroyed || socket.writableFinished) return resume(Effect.void)
    const done = () => resume(Effect.void)
    socket.once("finish", done).once("close", done)
  })

/**
 * Registers on a connected socket whose selected ALPN is ours, if the connection leads to a `wanted` process. The function owns
 * the socket and closes it on failure.
 */
export const open = Effect.fn("MuxLink.open")(function* (
  edge: string,
  socket: TLSSocket,
  registration: Registration,
  serve: Serve,
  wanted: (edgeProcess: EdgeProcess | undefined) => boolean = () => true
) {
  const { ending, fault } = yield* AgentMetrics
  guard(socket, ending(socket))
  const mux = new Mux(socket, {
    side: "dialler",
    keepAlive,
    onStream: (stream) => serve(stream, stream.header),
    ...(registration.onEcho && { onEcho: registration.onEcho }),
    onFault: fault
  })
  const lost = (why: string) => new RegistrationLost({ edge, why })
  return yield* Effect.gen(function* () {
    const hello = yield* Effect.promise(() => mux.ready)
    if (Result.isFailure(hello))
      return yield* lost(`the session ended (${hello.failure.code}) ${hello.failure.sentence}`)
    const { challenge, edgeProcess } = hello.success
    if (!wanted(edgeProcess)) return yield* lost("the connection leads to where another one does")
    const sent = registration.certificate?.state
    const request = requestOf(registration, socket, challenge)
    const answer = yield* Effect.promise(() => mux.register(request))
    if (Result.isFailure(answer)) {
      const { code, sentence } = answer.failure
      return yield* code === "closed"
        ? lost(`the session ended before the answer: ${sentence}`)
        : refused(edge, code, sentence)
    }
    const held = answer.success
    follow(mux, held, registration, sent)
    heed(mux, held, registration)
    const sessionEnd = Effect.map(
      Effect.promise(() => mux.closed),
      ({ code, sentence }) => ({ reason: `the session ended (${code}) ${sentence}`.trim(), final: false })
    )
    const link: EdgeLink = {
      edge,
      carrier: "mux",
      edgeProcess,
      visitorTokens: held.answer.visitorTokens === true,
      ended: Effect.raceFirst(
        Effect.flatMap(
          Effect.promise(() => held.ended),
          ({ code, sentence }) => {
            if (code === "closed") return sessionEnd
            const { message, final } = refused(edge, code, sentence)
            return Effect.succeed({ reason: message, final, isRevoked: code === "revoked" })
          }
        ),
        Effect.map(
          Effect.promise(() => mux.draining),
          (sentence) => ({ reason: `the edge is leaving: ${sentence}`, final: false })
        )
      ),
      received: () => mux.counters.bytesReceived,
      retire: () => mux.goAway("the agent takes no more streams"),
      drained: Effect.andThen(sessionEnd, flushed(socket)),
      close: () => mux.close("normal")
    }
    return link
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerMillis,
      orElse: () => Effect.fail(lost(`no answer to the registration within ${answerMillis / 1000} s`))
    }),
    Effect.onError(() => Effect.sync(() => mux.close("normal")))
  )
})
