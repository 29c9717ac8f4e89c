/**
 * The agent's own TCP port for mesh clients (CT_AGENT_DIRECT_ADVERTISE): the same Noise session as through the edge, with a
 * ticket in its first message. A client without the origin's key or the ticket gets no data. If the port cannot be opened, this
 * is logged once and clients use the edge.
 */
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock, isIPv6 } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { guarded, guard } from "@catenet/wire/transport/FaultBoundary"
import { Effect } from "effect"
import type { Server, Socket } from "node:net"
import { keepAliveMillis } from "../carrier/OutgoingProxy.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"

/** Clients that have connected and not yet proved anything. Addresses share these places. */
export const maxStrangers = 64
/** Clients at a time, strangers and others. */
export const maxClients = 8192

export interface Options {
  readonly advertise: string
  /** 0 for any free port. */
  readonly port: number
  /** Serves a client in the background; calls `admitted` when it has proved itself. */
  serve(socket: Socket, admitted: () => void): void
}

const listen = (host: string, port: number, onConnection: (socket: Socket) => void) =>
  Effect.callback<Server, Error>((resume) => {
    const server = Sockets.tcpServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onConnection)
    server.maxConnections = maxClients
    server.once("error", (error) => resume(Effect.fail(error)))
    server.listen(port, host, () => {
      // A machine out of file descriptors rejects single connections; the port stays open.
      server.on("error", () => {})
      resume(Effect.succeed(server))
    })
  })

/** The address that the agent gives to clients; undefined without a port. */
export const open = Effect.fn("DirectListener.open")(function* ({ advertise, port, serve }: Options) {
  const { ending } = yield* AgentMetrics
  const strangers = new FairPlaces(maxStrangers)
  const receive = (socket: Socket) => {
    guard(socket, ending(socket))
    socket.on("error", () => {})
    const stranger = { isIdle: () => true, evict: () => void socket.resetAndDestroy() }
    const known = strangers.take(addressBlock(socket.remoteAddress ?? ""), stranger)
    if (known === undefined) return void socket.resetAndDestroy()
    socket.setKeepAlive(true, keepAliveMillis)
    socket.once("close", known)
    guarded(ending(socket), serve)(socket, known)
  }
  const everywhere = isIPv6(advertise) ? "::" : "0.0.0.0"
  return yield* Effect.acquireRelease(
    // Behind port forwarding, the advertised address is not this machine's own.
    listen(advertise, port, receive).pipe(Effect.catch(() => listen(everywhere, port, receive))),
    (server) => Effect.sync(() => void server.close())
  ).pipe(
    Effect.flatMap((server) => {
      const bound = server.address()
      const address: HostPort = {
        host: advertise,
        port: bound !== null && typeof bound === "object" ? bound.port : port
      }
      return Effect.as(Effect.logInfo(`clients may come directly to ${formatHostPort(address)}`), address)
    }),
    Effect.catch((error) =>
      Effect.as(
        Effect.logWarning(
          `CT_AGENT_DIRECT_PORT: cannot listen on port ${port} (${error.message}); clients come through the edge`
        ),
        undefined
      )
    )
  )
})
