/**
 * Browser mode: forwards a client's bytes to the origin unchanged. The origin is dialed when the client's first bytes arrive, so
 * that silent clients cost it nothing.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { encodeProxyHeader } from "@catenet/platform/ProxyProtocol"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { AnswerFollower } from "@catenet/wire/http/AnswerFollower"
import { abort } from "@catenet/wire/transport/Abort"
import { CrumbBudget } from "@catenet/wire/transport/CrumbBudget"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { splice } from "@catenet/wire/transport/Splice"
import { Effect } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { AgentMetrics, Requests } from "../observe/AgentMetrics.ts"
import type { Origin as OriginSettings } from "../settings/Settings.ts"
import * as Origin from "./Origin.ts"
import { awaitReadable } from "./StreamHelloPeek.ts"

/**
 * Counts a connection's HTTP/1.1 requests by their heads, which clients begin in a new packet. For display only; pipelined
 * requests count as one.
 */
const head = /^[A-Z]{3,12} [^ \r\n]{1,2000} HTTP\/1\.[01]\r\n/u
const looked = 2_048

const beginsHead = (chunk: Uint8Array) =>
  head.test(Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, looked)).toString("latin1"))

/** Counts a client's requests, including its opening bytes. Another reader consumes the stream. */
export const count = (requests: Requests, client: Duplex, opening: Uint8Array) => {
  const see = (chunk: Uint8Array) => {
    if (beginsHead(chunk)) requests.count = (requests.count ?? 0) + 1
  }
  if (opening.length > 0) see(opening)
  client.on("data", see)
}

/**
 * Serves one client until both directions have ended. Never fails: errors are counted, logged and reported to the edge. `taken`
 * are bytes that were read before and could not be put back.
 */
export type Handler = (stream: Duplex, header: OpenHeader | undefined, taken?: Uint8Array) => Effect.Effect<void>

/** The PROXY protocol header for the origin: the client that the edge named, or none. */
export const proxyHeader = (header: OpenHeader | undefined) =>
  encodeProxyHeader({
    ...(header?.client === undefined ? {} : { source: header.client }),
    ...(header?.server === undefined ? {} : { destination: header.server }),
    ...(header?.host === undefined ? {} : { authority: header.host })
  })

let unnamed = 0

/** Counts the small pieces of a client by its address; one whose address the edge does not name is counted for itself. */
export const crumbsOf = (crumbs: CrumbBudget, header: OpenHeader | undefined) => {
  const address = header?.client?.address ?? `client ${++unnamed}`
  return () => crumbs.spend(address, 1, Scheduler.monotonicMillis())
}

const nothing = new Uint8Array()
const cut = (socket: Socket) => Effect.sync(() => void socket.destroy())

/** The client's first bytes, if the origin may speak first; undefined if they are not to be connected. */
type Opening = (socket: Socket) => Effect.Effect<Uint8Array | undefined>

const remedyOf = ({ code }: Origin.OriginDown) =>
  code === "EMFILE" || code === "ENFILE"
    ? "The limit of open files is reached: raise it (LimitNOFILE= of the service, or ulimit -n) and restart the agent."
    : "Start the local service, or correct CT_AGENT_ORIGIN."

/** Logs once that the origin is down, not for each client, and once that it is back. */
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

/** Dials the origin for one more HTTP/1.1 connection of a client, counted for as long as it is open. */
export const dial = (origin: OriginSettings, metrics: AgentMetrics["Service"]) => {
  const report = lossReport()
  return Effect.fnUntraced(
    function* (header: OpenHeader | undefined) {
      const socket = yield* Origin.dial(origin)
      guard(socket, metrics.ending(socket))
      yield* report.up
      const { close, counters } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      socket.once("close", () => {
        counters.aToB += socket.bytesWritten
        counters.bToA += socket.bytesRead
        close()
      })
      if (origin.proxyProtocol === "v2") socket.write(proxyHeader(header))
      return socket
    },
    (dialling) =>
      Effect.tapError(dialling, (error) => {
        metrics.traffic.tunnelsFailed++
        return report.down(error)
      })
  )
}

/** Counts both directions; another reader consumes them. */
const followAnswers = (client: Duplex, origin: Socket, first: Uint8Array) => {
  const follower = new AnswerFollower()
  follower.asks(first)
  client.on("data", (chunk: Buffer) => follower.asks(chunk))
  origin.on("data", (chunk: Buffer) => follower.answers(chunk))
  return follower
}

/**
 * Connects a client with a new connection to the origin and counts it. `client` may be the plain side of a TLS session; `taken`
 * are bytes that were read before, `opening` reads them if none were.
 */
export const join = (origin: OriginSettings, metrics: AgentMetrics["Service"], crumbs = new CrumbBudget()) => {
  const report = lossReport()
  return Effect.fnUntraced(
    function* (client: Duplex, header: OpenHeader | undefined, taken: Uint8Array = nothing, opening?: Opening) {
      const socket = yield* Origin.dial(origin)
      guard(socket, metrics.ending(socket))
      yield* report.up
      if (origin.proxyProtocol === "v2") socket.write(proxyHeader(header))
      const first = opening === undefined ? taken : yield* Effect.onInterrupt(opening(socket), () => cut(socket))
      if (first === undefined) return void socket.destroy()
      const { counters, close } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      if (metrics.requests.count !== undefined) count(metrics.requests, client, first)
      if (first.length > 0) socket.write(first)
      counters.aToB += first.length
      const follower = followAnswers(client, socket, first)
      const isAnswered = () => follower.isWhole
      yield* Effect.promise((signal) =>
        splice(client, socket, {
          counters,
          signal,
          isAnswered,
          onFault: metrics.fault,
          onCrumb: crumbsOf(crumbs, header)
        })
      ).pipe(Effect.ensuring(Effect.sync(close)))
    },
    (serving, client) =>
      Effect.catchTag(serving, "OriginDown", (error) => {
        metrics.traffic.tunnelsFailed++
        abort(client, error.late ? "origin-timeout" : "origin-unreachable", error.message)
        return report.down(error)
      })
  )
}

export const make = (origin: OriginSettings, metrics: AgentMetrics["Service"]): Handler => {
  const serve = join(origin, metrics)
  return Effect.fnUntraced(function* (stream, header, taken = nothing) {
    if (taken.length > 0 || (yield* awaitReadable(stream))) yield* serve(stream, header, taken)
    else stream.end()
  })
}
