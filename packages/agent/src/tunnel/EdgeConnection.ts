/**
 * One registration attempt, by the transports of CT_AGENT_TRANSPORTS in order. TLS tries the edge's address, then its port 443 if
 * allowed; each is dialed once, offering all wanted protocols.
 */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Data, Effect, Result, type Scope } from "effect"
import type { TLSSocket } from "node:tls"
import { QuicDial, type QuicUnreachable } from "../carrier/QuicDial.ts"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import type { Settings } from "../settings/Settings.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"
import type { CarrierHealth } from "./CarrierHealth.ts"
import * as EdgeDial from "./EdgeDial.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import * as MuxLink from "./MuxLink.ts"
import type { Serve } from "./MuxSession.ts"
import * as QuicEdgeLink from "./QuicEdgeLink.ts"
import type { Registration, RegistrationLost, RegistrationRefused } from "./Registration.ts"
import { Sessions } from "./SharedSessions.ts"
import * as SlotLink from "./SlotLink.ts"

const { muxAlpn } = EdgeDial
const slotAlpn = "ct-edge"

/** The edge answered and speaks none of the wanted protocols. */
class NothingSpoken extends Data.TaggedError("NothingSpoken")<{ readonly edge: string }> {
  override get message() {
    return `edge ${this.edge}: it does not multiplex, and CT_AGENT_TRANSPORTS names no other way to it`
  }
}

type Failed = EdgeDial.DialFailed | NothingSpoken | QuicUnreachable | RegistrationLost | RegistrationRefused
type Opening = Effect.Effect<EdgeLink, Failed, AgentMetrics | ConnectionInfo | QuicDial | Scope.Scope>

/** The addresses to try, in order. */
export const candidates = (edge: HostPort, fallback443: boolean): ReadonlyArray<HostPort> =>
  fallback443 && edge.port !== 443 ? [edge, { host: edge.host, port: 443 }] : [edge]

/** Dials with the pinned root, and once more when it was refused and has been replaced at the edge. */
const pinned = <A, E, R>(
  info: ConnectionInfo["Service"],
  dial: (ca: string) => Effect.Effect<A, E, R>,
  isUntrusted: (error: E) => boolean
) =>
  Effect.flatMap(info.ca, dial).pipe(
    Effect.catchIf(isUntrusted, (error) =>
      Effect.flatMap(info.refreshCa, (ca) => (ca === undefined ? Effect.fail(error) : dial(ca)))
    )
  )

const dial = (info: ConnectionInfo["Service"], address: HostPort, alpn: ReadonlyArray<string>) =>
  pinned(
    info,
    (ca) => EdgeDial.dial(address, ca, alpn),
    ({ untrusted }) => untrusted
  )

/** The socket is closed with the scope. */
const held = <E, R>(dialing: Effect.Effect<TLSSocket, E, R>) =>
  Effect.acquireRelease(dialing, (socket) => Effect.sync(() => socket.destroy()), { interruptible: true })

/** The registration is withdrawn with the scope; the session may go on for others. */
const left = (link: EdgeLink) =>
  Effect.as(
    Effect.addFinalizer(() => Effect.sync(() => link.close())),
    link
  )

/** A connection by QUIC to the edge; it lives in the scope. */
export const dialQuic = Effect.fn("EdgeConnection.dialQuic")(function* (info: ConnectionInfo["Service"]) {
  const quic = yield* QuicDial
  const address = yield* info.edge
  const connection = yield* pinned(
    info,
    (roots) => quic.dial({ ...address, roots }),
    ({ isUntrusted }) => isUntrusted
  )
  return { edge: formatHostPort(address), connection }
})

/** An additional link to an edge that is already linked, if it leads to a `wanted` process. It lives in the scope. */
export const additionalLink = Effect.fn("EdgeConnection.additionalLink")(function* (
  info: ConnectionInfo["Service"],
  edge: string,
  address: HostPort,
  registration: Registration,
  serve: Serve,
  wanted: (edgeProcess: EdgeProcess | undefined) => boolean
) {
  const dialing = dial(info, address, [muxAlpn])
  const shared = yield* Sessions
  const linked =
    shared === undefined
      ? { socket: yield* held(dialing) }
      : yield* shared.link(edge, dialing, registration, serve, wanted)
  if ("link" in linked) return yield* left(linked.link)
  return yield* MuxLink.open(edge, linked.socket, registration, serve, wanted)
})

/** The first that works; the error is that of the first one, unless a later one was refused. */
const firstOf = (attempts: ReadonlyArray<Opening>): Opening =>
  attempts.reduce((attempt, other) =>
    Effect.catchIf(
      attempt,
      (error) => error._tag !== "RegistrationRefused",
      (error) => Effect.mapError(other, (later) => (later._tag === "RegistrationRefused" ? later : error))
    )
  )

/** ALPN protocols offered over TLS, in order of preference, and the transports that such a dial covers. */
const offers = (carrier: Carrier, wanted: ReadonlyArray<Carrier>): ReadonlyArray<Carrier> =>
  carrier === "mux" && wanted.includes("slots") ? ["mux", "slots"] : [carrier]

/** A link by the first carrier that works. It lives in the scope; the error is that of the first. */
export const connect = Effect.fnUntraced(function* (
  settings: Settings,
  registration: Registration,
  serve: Serve,
  carrierHealth: CarrierHealth
) {
  const info = yield* ConnectionInfo
  const { isInstalled } = yield* QuicDial
  const { fallback443, framed, maxServing, poolSize, transports } = settings

  const byTls = (offered: ReadonlyArray<Carrier>) => (address: HostPort) =>
    Effect.gen(function* () {
      const edge = formatHostPort(address)
      const alpn = offered.map((carrier) => (carrier === "mux" ? muxAlpn : slotAlpn))
      const shared = offered.includes("mux") ? yield* Sessions : undefined
      const dialing = dial(info, address, alpn)
      const linked =
        shared === undefined
          ? { socket: yield* held(dialing) }
          : yield* shared.link(edge, dialing, registration, serve, () => true)
      if ("link" in linked) return yield* left(linked.link)
      const { socket } = linked
      if (shared !== undefined) yield* held(Effect.succeed(socket))
      if (socket.alpnProtocol === muxAlpn) return yield* MuxLink.open(edge, socket, registration, serve)
      if (!offered.includes("slots")) return yield* new NothingSpoken({ edge })
      const again = dial(info, address, [slotAlpn])
      return yield* SlotLink.open({ edge, dial: again, registration, serve, poolSize, maxServing, framed }, socket)
    })

  const byQuic: Opening = Effect.gen(function* () {
    const { connection, edge } = yield* dialQuic(info)
    return yield* QuicEdgeLink.open(edge, connection, registration, serve)
  })

  const usable = transports.filter((carrier) => carrier !== "quic" || isInstalled || transports.length === 1)
  const tried = new Set<Carrier>()
  let why: Failed | undefined
  for (const carrier of carrierHealth.order(usable)) {
    if (tried.has(carrier)) continue
    const trying = carrier === "quic" ? [carrier] : offers(carrier, usable)
    for (const one of trying) tried.add(one)
    const outcome = yield* Effect.result(
      carrier === "quic" ? byQuic : firstOf(candidates(yield* info.edge, fallback443).map(byTls(trying)))
    )
    if (Result.isSuccess(outcome)) {
      carrierHealth.reached(trying)
      return outcome.success
    }
    why ??= outcome.failure
    const { failure } = outcome
    if (failure._tag === "RegistrationRefused") {
      // On QUIC the agent cannot prove its key, which the edge may require: another transport can.
      if (carrier !== "quic" || failure.final || usable.length === 1) return yield* failure
      carrierHealth.failed(trying)
    }
    // A restarting edge refuses TLS at once, but would keep QUIC waiting.
    if (failure._tag === "DialFailed" && failure.isRefused === true && !carrierHealth.staysRefused())
      return yield* failure
    if (failure._tag === "DialFailed" || failure._tag === "QuicUnreachable") carrierHealth.failed(trying)
  }
  return yield* why ?? Effect.die("no carrier")
})
