/** Relays UDP over a Noise session, or a stream of datagrams: one frame is one datagram, in both directions. When one direction ends, so does the other. */
import { clause } from "@catenet/domain/values/Sentence"
import { isIPv6 } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { abort } from "@catenet/wire/transport/Abort"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Effect } from "effect"
import type { Socket } from "node:dgram"
import type { Duplex } from "node:stream"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import { OriginDown } from "../tunnel/Origin.ts"

/** Bytes of datagrams that may wait for the network card. */
export const longestQueue = 1_048_576

/** Whether a datagram must be dropped, as in any network, because the system has not accepted the earlier ones. */
export const isCongested = (socket: Socket) => socket.getSendQueueSize() > longestQueue

/** A UDP socket that talks to this address only. */
const connected = (address: HostPort) =>
  Effect.callback<Socket, OriginDown>((resume) => {
    const socket = Sockets.udpSocket(isIPv6(address.host) ? "udp6" : "udp4")
    const failed = (error: Error) => {
      socket.close()
      resume(Effect.fail(new OriginDown({ origin: formatHostPort(address), why: error.message, late: false })))
    }
    socket.once("error", failed)
    socket.connect(address.port, address.host, () => {
      socket.off("error", failed)
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => void socket.close())
  })

/** Copies until the stream ends. An ICMP error for one datagram is not the end: the service may come back. */
const copy = (stream: Duplex, socket: Socket, counters: { aToB: number; bToA: number }) =>
  Effect.callback<void>((resume) => {
    const done = () => resume(Effect.void)
    stream.on("data", (datagram: Uint8Array) => {
      if (isCongested(socket)) return
      counters.aToB += datagram.length
      socket.send(datagram)
    })
    stream.on("end", done)
    stream.on("close", done)
    stream.on("error", done)
    socket.on("error", () => {})
    socket.on("message", (datagram) => {
      // A datagram that finds no room is dropped, as any network would.
      if (stream.writableNeedDrain) return
      counters.bToA += datagram.length
      stream.write(datagram)
    })
    return Effect.void
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        socket.close()
        stream.end()
        if (!stream.readableEnded) stream.destroy()
      })
    )
  )

/** Joins a session in datagram mode with a new UDP socket to the origin and counts it. */
export const join = (origin: HostPort, metrics: AgentMetrics["Service"]) =>
  Effect.fnUntraced(
    function* (stream: Duplex) {
      const socket = yield* connected(origin)
      guard(socket, (error) => {
        metrics.fault(error)
        stream.destroy()
      })
      const { counters, close } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      yield* Effect.ensuring(copy(stream, socket, counters), Effect.sync(close))
    },
    (serving, stream) =>
      Effect.catchTag(serving, "OriginDown", (error) => {
        metrics.traffic.tunnelsFailed++
        abort(stream)
        return Effect.logWarning(`${clause(error.message)}. Correct CT_AGENT_ORIGIN.`)
      })
  )
