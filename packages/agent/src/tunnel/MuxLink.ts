/**
 * The preferred transport: one TLS connection on which the edge opens a stream for each client. Several tunnels of one agent may be
 * registered on it.
 */
import { native } from "@catenet/crypto/native"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { proofMessage, type RegisterRequest } from "@catenet/wire/frames/MuxRegister"
import { channelBinding } from "@catenet/wire/transport/ChannelBinding"
import type { Mux } from "@catenet/wire/transport/Mux"
import type { Registration as Accepted } from "@catenet/wire/transport/Registrations"
import { Deferred, Effect, Redacted, Result } from "effect"
import type { TLSSocket } from "node:tls"
import { version } from "../Version.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import * as MuxSession from "./MuxSession.ts"
import { refused, type Registration } from "./Registration.ts"

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
const follow = (
  mux: Mux,
  held: Accepted,
  { certificate, host }: Registration,
  sent: CertificateState | undefined,
  isLeft: Promise<unknown>
) => {
  if (certificate === undefined || host === undefined) return
  const heeds = held.answer.heedsCertificates === true
  const report = (state: CertificateState) => {
    held.report({ host, ...state })
    return heeds ? mux.ping() : Promise.resolve()
  }
  void isLeft.then(certificate.join({ heeds, say: report }, sent))
}

/** Follows what the edge says of the tunnel's policy. */
const heed = (held: Accepted, { policy }: Registration, isLeft: Promise<unknown>) => {
  if (policy === undefined) return
  held.onPolicy((revision) => policy.announced(revision))
  void isLeft.then(policy.joined(held.answer.announcesPolicy === true))
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

/** Asks the edge to register, and gives the registration the streams that have arrived for it. */
const ask = Effect.fnUntraced(function* (
  session: MuxSession.MuxSession,
  registration: Registration,
  serve: MuxSession.Serve
) {
  const { challenge, early, edge, members, mux, socket } = session
  const request = requestOf(registration, socket, challenge)
  const answer = yield* Effect.promise(() => mux.register(request)).pipe(
    Effect.ensuring(Effect.sync(() => session.asking--))
  )
  if (Result.isFailure(answer)) {
    const { code, sentence } = answer.failure
    return yield* code === "closed"
      ? MuxSession.lostAt(edge)(`the session ended before the answer: ${sentence}`)
      : refused(edge, code, sentence)
  }
  const held = answer.success
  const member: MuxSession.Member = { registration, serve, streams: new Set(), idle: () => {} }
  members.set(held.id, member)
  const waiting = early.get(held.id) ?? []
  early.delete(held.id)
  for (const { header, stream } of waiting) MuxSession.give(member, stream, header)
  return { held, member }
})

/**
 * Registers on a session, whose `asking` counts it already. If the session is shared with other tunnels, leaving it withdraws the registration, and the session
 * ends with the last one.
 */
export const register = Effect.fn("MuxLink.register")(function* (
  session: MuxSession.MuxSession,
  registration: Registration,
  serve: MuxSession.Serve,
  isShared: boolean
) {
  const { edge, edgeProcess, members, mux, socket } = session
  const sent = registration.certificate?.state
  const { held, member } = yield* ask(session, registration, serve).pipe(
    Effect.timeoutOrElse({
      duration: MuxSession.answerMillis,
      orElse: () =>
        Effect.fail(MuxSession.lostAt(edge)(`no answer to the registration within ${MuxSession.answerMillis / 1000} s`))
    })
  )
  const isLeft = Promise.race([held.ended, mux.closed])
  follow(mux, held, registration, sent, isLeft)
  heed(held, registration, isLeft)
  const over = Effect.promise(() => MuxSession.end(session))
  const idle = yield* Deferred.make<void>()
  /** Everything sent on the streams has reached the edge once it answers a ping. */
  const withdraw = () => {
    held.withdraw()
    const settle = () => {
      if (member.streams.size > 0) return
      void mux.ping().then(() => Deferred.doneUnsafe(idle, Effect.void))
    }
    // Streams that the edge opened before it read the withdrawal come before its answer.
    void mux.ping().then(() => {
      member.idle = settle
      settle()
    })
  }
  const revoked = held.ended.then(({ code, sentence }) => {
    if (code === "closed") return MuxSession.end(session)
    const { message, final } = refused(edge, code, sentence)
    return { reason: message, final, isRevoked: code === "revoked" }
  })
  const draining = mux.draining.then((sentence) => ({ reason: `the edge is leaving: ${sentence}`, final: false }))
  let isRetired = false
  const link: EdgeLink = {
    edge,
    carrier: "mux",
    edgeProcess,
    visitorTokens: held.answer.visitorTokens === true,
    ended: Effect.promise(() => Promise.race([revoked, draining])),
    received: () => mux.counters.bytesReceived,
    retire: () => {
      if (isRetired) return
      isRetired = true
      if (isShared) withdraw()
      else mux.goAway("the agent takes no more streams")
    },
    drained: isShared ? Effect.raceFirst(Deferred.await(idle), over) : Effect.andThen(over, flushed(socket)),
    close: () => {
      if (!isShared) return mux.close("normal")
      held.withdraw()
      for (const stream of member.streams) stream.destroy()
      if (members.delete(held.id) && members.size + session.asking === 0) mux.close("normal")
    }
  }
  return link
})

/** Opens a session that this registration has for itself, and registers on it. */
export const open = Effect.fn("MuxLink.open")(function* (
  edge: string,
  socket: TLSSocket,
  registration: Registration,
  serve: MuxSession.Serve,
  wanted?: (edgeProcess: EdgeProcess | undefined) => boolean
) {
  const session = yield* MuxSession.open(edge, socket, wanted)
  session.asking++
  return yield* Effect.onError(register(session, registration, serve, false), () =>
    Effect.sync(() => session.mux.close("normal"))
  )
})
