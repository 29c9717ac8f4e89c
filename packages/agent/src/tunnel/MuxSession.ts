/** A multiplexed session with an edge, on which the tunnels of an agent are registered. */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { type Registration, RegistrationLost } from "./Registration.ts"

export type Serve = (stream: Duplex, header: OpenHeader | undefined) => void

export const answerMillis = 10_000
/**
 * A dead edge is noticed within half a minute, whatever its socket reports; not sooner, because after an outage of ten seconds
 * TCP retries only at twenty.
 */
const keepAlive = { everyMillis: 5_000, deadMillis: 24_000 }

/** A tunnel that is registered on a session. */
export interface Member {
  readonly registration: Registration
  readonly serve: Serve
  readonly streams: Set<Duplex>
  /** Called when the last stream has closed. */
  idle: () => void
}

/** A session with an edge, on which tunnels are registered. */
export interface MuxSession {
  readonly edge: string
  readonly mux: Mux
  readonly socket: TLSSocket
  readonly challenge: Uint8Array | undefined
  readonly edgeProcess: EdgeProcess | undefined
  /** Registrations that the edge takes on it. */
  readonly most: number
  readonly members: Map<number, Member>
  /** Streams for registrations whose answer is being read. */
  readonly early: Map<number, Array<{ readonly stream: Duplex; readonly header: OpenHeader }>>
  /** Registrations under way. */
  asking: number
}

export const give = (member: Member, stream: Duplex, header: OpenHeader) => {
  member.streams.add(stream)
  stream.once("close", () => {
    member.streams.delete(stream)
    if (member.streams.size === 0) member.idle()
  })
  member.serve(stream, header)
}

/** The TLS group of a connection that this side opened, in small letters. */
const keyExchangeOf = (socket: TLSSocket): string | undefined => {
  const info = socket.getEphemeralKeyInfo()
  return info !== null && "name" in info && typeof info.name === "string" ? info.name.toLowerCase() : undefined
}

export const lostAt = (edge: string) => (why: string) => new RegistrationLost({ edge, why })

/**
 * Opens a session on a connected socket whose selected ALPN is ours, if the connection leads to a `wanted` process. The function
 * owns the socket and closes it on failure.
 */
export const open = Effect.fn("MuxSession.open")(function* (
  edge: string,
  socket: TLSSocket,
  wanted: (edgeProcess: EdgeProcess | undefined) => boolean = () => true
) {
  const { ending, fault } = yield* AgentMetrics
  guard(socket, ending(socket))
  const lost = lostAt(edge)
  const keyExchange = keyExchangeOf(socket)
  const members: MuxSession["members"] = new Map()
  const early: MuxSession["early"] = new Map()
  const mux = new Mux(socket, {
    side: "dialler",
    keepAlive,
    onStream: (stream) => {
      const { header } = stream
      const member = members.get(header.registration)
      if (member !== undefined) return give(member, stream, header)
      // The edge may open a stream in the same packet as its answer.
      if (session !== undefined && session.asking > 0)
        return void early.set(header.registration, [...(early.get(header.registration) ?? []), { stream, header }])
      stream.reset("refused", "the agent has withdrawn this registration")
    },
    onEcho: (id, answer) => {
      const onEcho = members.get(id)?.registration.onEcho
      if (onEcho === undefined) answer(undefined)
      else onEcho(id, (echo) => answer(echo && { ...echo, ...(keyExchange !== undefined && { keyExchange }) }))
    },
    onFault: fault
  })
  let session: MuxSession | undefined
  return yield* Effect.gen(function* () {
    const hello = yield* Effect.promise(() => mux.ready)
    if (Result.isFailure(hello))
      return yield* lost(`the session ended (${hello.failure.code}) ${hello.failure.sentence}`)
    const { challenge, edgeProcess, maxRegistrations: most = 1 } = hello.success
    if (!wanted(edgeProcess)) return yield* lost("the connection leads to where another one does")
    session = { edge, mux, socket, challenge, edgeProcess, most, members, early, asking: 0 }
    return session
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerMillis,
      orElse: () => Effect.fail(lost(`no greeting within ${answerMillis / 1000} s`))
    }),
    Effect.onError(() => Effect.sync(() => mux.close("normal")))
  )
})

export const end = ({ mux }: MuxSession) =>
  mux.closed.then(({ code, sentence }) => ({
    reason: `the session ended (${code}) ${sentence}`.trim(),
    final: false
  }))
