/**
 * Browser mode: the bytes of one client go to the origin as they are. The origin is dialled when the client's first bytes are
 * there, so that a client that says nothing costs it nothing.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { encodeProxyHeader } from "@catenet/platform/ProxyProtocol"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { AnswerFollower } from "@catenet/wire/http/AnswerFollower"
import { abort } from "@catenet/wire/transport/Abort"
import type { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { splice } from "@catenet/wire/transport/Splice"
import { Duration, Effect } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { AgentMetrics, Requests } from "../observe/AgentMetrics.ts"
import type { Visit } from "../observe/Inspection.ts"
import type * as Origin from "./Origin.ts"
import type { OpenOrigin } from "./OriginConnections.ts"
import { awaitReadable } from "./StreamHelloPeek.ts"

/**
 * Counts the HTTP/1.1 requests of a connection by their heads: a client begins a head with a packet of its own. It is for a
 * person's eyes; nothing is read into the bytes, and pipelined requests count as one.
 */
const head = /^[A-Z]{3,12} [^ \r\n]{1,2000} HTTP\/1\.[01]\r\n/u
const looked = 2_048

const beginsHead = (chunk: Uint8Array) =>
  head.test(Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, looked)).toString("latin1"))

/** Counts what this client says, and what it has said already. The stream is to be read by another from now on. */
export const count = (requests: Requests, client: Duplex, opening: Uint8Array) => {
  const see = (chunk: Uint8Array) => {
    if (beginsHead(chunk)) requests.count = (requests.count ?? 0) + 1
  }
  if (opening.length > 0) see(opening)
  client.on("data", see)
}

/**
 * Serves one client until both directions have ended. Never fails: what goes wrong is counted, logged and reported to the edge.
 * `taken` is what was read from it before and could not be put back.
 */
export type Handler = (stream: Duplex, header: OpenHeader | undefined, taken?: Uint8Array) => Effect.Effect<void>

/** The PROXY protocol header for the origin: the client that the edge named, or none. */
export const proxyHeader = (header: OpenHeader | undefined) =>
  encodeProxyHeader({
    ...(header?.client === undefined ? {} : { source: header.client }),
    ...(header?.server === undefined ? {} : { destination: header.server }),
    ...(header?.host === undefined ? {} : { authority: header.host })
  })

/** What an origin that wants one gets before the client's bytes. */
const openingOf = ({ proxyProtocol }: OpenOrigin, header: OpenHeader | undefined) =>
  proxyProtocol === "v2" ? proxyHeader(header) : undefined

let unnamed = 0

/** Counts the small pieces of a client by its address; one whose address the edge does not name is counted for itself. */
export const crumbsOf = (crumbs: CrumbBudget, header: OpenHeader | undefined) => {
  const address = header?.client?.address ?? `client ${++unnamed}`
  return (pieces = 1) => crumbs.spend(address, pieces, Scheduler.monotonicMillis())
}

const nothing = new Uint8Array()
const isOfCertificate = /CERT|SIGNATURE|ISSUER/u
export const remedyOf = ({ code = "" }: Origin.OriginDown) => {
  if (code === "EMFILE" || code === "ENFILE")
    return "The limit of open files is reached: raise it (LimitNOFILE= of the service, or ulimit -n) and restart the agent."
  return isOfCertificate.test(code)
    ? "Name the authority of its certificate with CT_AGENT_ORIGIN_CA, or accept any with CT_AGENT_ORIGIN_INSECURE=1."
    : "Start the local service, or correct CT_AGENT_ORIGIN."
}

/** Says that the origin is down once, not for each of its clients, and so of its return. */
const lossReport = () => {
  let down = false
  return {
    up: Effect.suspend(() => {
      if (!down) return Effect.void
      down = false
      return Effect.logInfo("the origin answers again")
    }),
    down: (error: Origin.OriginDown) =>
      Effect.suspend(() => {
        if (down) return Effect.logDebug(error.message)
        down = true
        return Effect.logWarning(`${clause(error.message)}. ${remedyOf(error)}`)
      })
  }
}

/** Connects visits to the origin, and shows them to the inspector where there is one. */
const inspected = (origin: OpenOrigin, metrics: AgentMetrics["Service"], http: Visit["http"]) => {
  const dialled = (header: OpenHeader | undefined) =>
    Effect.map(origin.connect(openingOf(origin, header)), (socket) => guard(socket, metrics.ending(socket)))
  const visitOf = (header: OpenHeader | undefined, connectMillis: number | undefined): Visit => ({
    client: header?.client?.address,
    host: header?.host,
    tls: header?.tls === "passthrough" ? "agent" : "edge",
    http,
    connectMillis,
    dial: dialled(header)
  })
  const connect = (header: OpenHeader | undefined) =>
    Effect.suspend(() => {
      const { current } = metrics.inspection
      if (current === undefined) return dialled(header)
      return Effect.map(Effect.timed(dialled(header)), ([took, socket]) => {
        current.connected(socket, visitOf(header, Duration.toMillis(took)))
        return socket
      })
    })
  const unreached = (client: Duplex, header: OpenHeader | undefined, taken: Uint8Array, why: string) => {
    const { current } = metrics.inspection
    if (current === undefined) return
    const more: Buffer | null = client.readableLength > 0 ? client.read() : null
    current.unreached(more === null ? taken : Buffer.concat([taken, more]), visitOf(header, undefined), why)
  }
  return { connect, unreached }
}

/** Dials the origin for one more HTTP/1.1 connection of a client, counted for as long as it is open. */
export const dial = (origin: OpenOrigin, metrics: AgentMetrics["Service"]) => {
  const report = lossReport()
  const { connect } = inspected(origin, metrics, "2")
  return Effect.fnUntraced(
    function* (header: OpenHeader | undefined) {
      const socket = yield* connect(header)
      yield* report.up
      const { close, counters } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      socket.once("close", () => {
        counters.aToB += socket.bytesWritten
        counters.bToA += socket.bytesRead
        close()
      })
      return socket
    },
    (dialling) =>
      Effect.tapError(dialling, (error) => {
        metrics.traffic.tunnelsFailed++
        return report.down(error)
      })
  )
}

/** Follows what both say; they are to be read by another from now on. */
const followAnswers = (client: Duplex, origin: Socket, first: Uint8Array) => {
  const follower = new AnswerFollower()
  follower.asks(first)
  client.on("data", (chunk: Buffer) => follower.asks(chunk))
  origin.on("data", (chunk: Buffer) => follower.answers(chunk))
  return follower
}

/** Joins clients with connections to the origin, and counts them. A client may be the plain side of a TLS session. */
export const joining = (origin: OpenOrigin, metrics: AgentMetrics["Service"]) => {
  const report = lossReport()

  const { connect: dialled, unreached } = inspected(origin, metrics, "1.1")
  const connect = (header: OpenHeader | undefined) => Effect.tap(dialled(header), report.up)
  const pass = (header: OpenHeader | undefined) =>
    Effect.tap(origin.pass(openingOf(origin, header)), (socket) => {
      guard(socket, metrics.ending(socket))
      return report.up
    })

  /** Until both directions have ended. `taken` was read from the client before; `onCrumb` as in `splice`. */
  const carry = (
    client: Duplex,
    socket: Socket,
    onCrumb: (() => number) | undefined,
    taken: Uint8Array = nothing
  ): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { counters, close } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      if (metrics.requests.count !== undefined) count(metrics.requests, client, taken)
      if (taken.length > 0) socket.write(taken)
      counters.aToB += taken.length
      const follower = followAnswers(client, socket, taken)
      const isAnswered = () => follower.isWhole
      const options = { counters, isAnswered, onFault: metrics.fault, ...(onCrumb === undefined ? {} : { onCrumb }) }
      return Effect.promise((signal) => splice(client, socket, { ...options, signal })).pipe(
        Effect.ensuring(Effect.sync(close))
      )
    })

  /** The origin could not be reached for this client, of whom `taken` was read. */
  const failed =
    (client: Duplex, header?: OpenHeader, taken: Uint8Array = nothing) =>
    (error: Origin.OriginDown) =>
      Effect.suspend(() => {
        metrics.traffic.tunnelsFailed++
        unreached(client, header, taken, error.message)
        abort(client, error.late ? "origin-timeout" : "origin-unreachable", error.message)
        return report.down(error)
      })

  const join = (client: Duplex, header: OpenHeader | undefined, taken?: Uint8Array, endsTls = false) =>
    (endsTls ? pass : connect)(header).pipe(
      // If the edge or the origin terminates TLS, it is also the one that paces visitors.
      Effect.flatMap((far) => carry(client, far, undefined, taken)),
      Effect.catchTag("OriginDown", failed(client, header, taken))
    )
  return { connect, carry, failed, join }
}

/** TLS of the client, as far as the first byte shows. */
const handshakeRecord = 0x16

export const make = (origin: OpenOrigin, metrics: AgentMetrics["Service"]): Handler => {
  const { join } = joining(origin, metrics)
  const isSecure = origin.place._tag === "Tls"
  return Effect.fnUntraced(function* (stream, header, taken = nothing) {
    if (taken.length === 0 && !(yield* awaitReadable(stream))) return void stream.end()
    if (!isSecure) return yield* join(stream, header, taken)
    // The visitor's own TLS ends at the service; behind an edge that ended it, the agent makes another.
    const bytes: Buffer | null = taken.length > 0 ? null : stream.read()
    const first = bytes ?? taken
    return yield* join(stream, header, first, first[0] === handshakeRecord)
  })
}
