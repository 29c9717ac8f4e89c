/**
 * A TCP listener for the life of its scope. It admits connections through a {@link ConnectionLimiter} and can be probed. Sockets
 * are passed on paused and may be half-open.
 */
import type { CannotListen } from "@catenet/platform/CannotListen"
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { guarded, guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Effect, type Scope } from "effect"
import type { Socket } from "node:net"
import type { ConnectionLimiter } from "./ConnectionLimiter.ts"
import { canOpen } from "./FileDescriptors.ts"
import * as ListenSockets from "./ListenSockets.ts"

/**
 * Result of a probe. `silent`: nothing was accepted within two seconds. `exhausted`: this process has no descriptor left, and the
 * system refuses connections.
 */
export type ListenerProbe = "accepts" | "silent" | "exhausted"

export interface TcpListener {
  readonly name: string
  readonly address: Address
  /** Stops accepting; connections that are open stay open. Idempotent. */
  readonly stop: Effect.Effect<void>
  /** Probes it with a connection from this process. */
  readonly accepts: Effect.Effect<ListenerProbe>
}

export interface ListenerOptions {
  readonly name: string
  readonly variable: string
  readonly address: Address
  readonly limiter: ConnectionLimiter
  readonly onConnection: (socket: Socket) => void
  /** Handles a fault in a callback of a connection, and ends the connection. */
  readonly ending: (socket: Socket) => OnFault
  readonly sharing?: ListenSockets.Sharing
  readonly sockets?: number
}

/** Probes from this process, which are closed when they are accepted. */
type Probes = Map<Socket, () => void>

const seenProbe = (socket: Socket, probes: Probes) => {
  for (const [probe, seen] of probes)
    if (probe.localPort === socket.remotePort && probe.localAddress === socket.remoteAddress) return seen
  return undefined
}

const receive = (options: ListenerOptions, probes: Probes) => (socket: Socket) => {
  const probed = seenProbe(socket, probes)
  if (probed !== undefined) {
    socket.destroy()
    return probed()
  }
  const fault = options.ending(socket)
  guard(socket, fault)
  // Without a listener an error would end the process; the code that serves the socket sees "close".
  socket.on("error", () => undefined)
  if (!options.limiter.admit(socket, options.name)) return void socket.destroy()
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 20_000)
  const open = guarded(fault, options.onConnection)
  return options.limiter.whenDue(socket, () => open(socket))
}

const probe = (address: Address, probes: Probes) =>
  Effect.callback<ListenerProbe>((resume) => {
    const host = address.host === "0.0.0.0" ? "127.0.0.1" : address.host === "::" ? "::1" : address.host
    const socket = Sockets.dialTcp({ host, port: address.port })
    probes.set(socket, () => resume(Effect.succeed("accepts")))
    socket.on("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.succeed(error.code === "EMFILE" || error.code === "ENFILE" ? "exhausted" : "silent"))
    )
    return Effect.sync(() => {
      probes.delete(socket)
      socket.destroy()
    })
  }).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed("silent" as const) }))

/**
 * At a shared address a probe may reach another process. So this only checks that this process has a descriptor left; the main
 * process checks that it runs.
 */
const withDescriptor = Effect.sync((): ListenerProbe => (canOpen() ? "accepts" : "exhausted"))

/** Opens the listener; it stops accepting when the scope closes. */
export const listen: (
  options: ListenerOptions
) => Effect.Effect<TcpListener, CannotListen | ConfigurationInvalid, Scope.Scope> = Effect.fn("TcpListener.listen")(
  function* (options: ListenerOptions) {
    const probes: Probes = new Map()
    const { limiter, name, sharing = "no" } = options
    const sockets = yield* ListenSockets.open({
      ...options,
      sharing,
      onConnection: receive(options, probes),
      // Out of descriptors: the system drops the connection, and the listener stays open.
      onFailure: () => limiter.shed(name, "descriptors")
    })
    const address = { host: options.address.host, port: sockets.port }
    return {
      name,
      address,
      stop: sockets.stop,
      accepts: Effect.suspend(() => {
        if (!sockets.isOpen()) return Effect.succeed("silent" as const)
        return sharing === "no" ? probe(address, probes) : withDescriptor
      })
    }
  }
)
