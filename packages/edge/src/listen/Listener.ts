/**
 * A TCP listener that lives as long as its scope, admits connections through a {@link Gate}, and can prove that it still
 * accepts. It hands out half-open capable sockets with reading paused and knows nothing of what travels on them.
 */
import { createConnection, createServer, type Server, type Socket } from "node:net"
import { Data, Effect, type Scope } from "effect"
import { type Address, format } from "../settings/Address.ts"
import type { Gate } from "./Gate.ts"

/** Nobody can be served: the address is taken or not ours. */
export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly variable: string
  readonly address: Address
  readonly reason: string
}> {
  override get message() {
    return `${format(this.address)} cannot be opened (${this.reason}); move it with ${this.variable}.`
  }
}

/**
 * Whether a listener accepts. `silent`: nothing was accepted within two seconds. `exhausted`: this process has no descriptor
 * left, so that nobody can be accepted; the system turns them away without a loop of ours running hot.
 */
export type Trial = "accepts" | "silent" | "exhausted"

export interface Listener {
  readonly name: string
  readonly address: Address
  /** Stops accepting; connections that are open stay open. Idempotent. */
  readonly stop: Effect.Effect<void>
  /** Tries it by a connection from here. */
  readonly accepts: Effect.Effect<Trial>
}

export interface ListenerOptions {
  readonly name: string
  readonly variable: string
  readonly address: Address
  readonly gate: Gate
  readonly onConnection: (socket: Socket) => void
}

/** Connections we made to ourselves; they are closed as soon as they are seen. */
type Probes = Map<Socket, () => void>

const seenProbe = (socket: Socket, probes: Probes) => {
  for (const [probe, seen] of probes) if (probe.localPort === socket.remotePort) return seen
  return undefined
}

const receive = (options: ListenerOptions, probes: Probes) => (socket: Socket) => {
  const probed = seenProbe(socket, probes)
  if (probed !== undefined) {
    socket.destroy()
    return probed()
  }
  // An error without a listener would end the process; whoever serves the socket learns of it by "close".
  socket.on("error", () => undefined)
  if (!options.gate.admit(socket, options.name)) return void socket.destroy()
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 20_000)
  return options.onConnection(socket)
}

const open = (options: ListenerOptions, probes: Probes) =>
  Effect.callback<Server, CannotListen>((resume) => {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, receive(options, probes))
    server.once("error", (error) => {
      const { variable, address } = options
      resume(Effect.fail(new CannotListen({ variable, address, reason: error.message })))
    })
    server.listen({ host: options.address.host, port: options.address.port, backlog: 1_024 }, () => {
      server.removeAllListeners("error")
      // Out of descriptors: the system sheds the connection, the listener goes on.
      server.on("error", () => options.gate.shed(options.name, "descriptors"))
      resume(Effect.succeed(server))
    })
  })

const stop = (server: Server) =>
  Effect.sync(() => {
    if (server.listening) server.close()
  })

const probe = (address: Address, probes: Probes) =>
  Effect.callback<Trial>((resume) => {
    const host = address.host === "0.0.0.0" ? "127.0.0.1" : address.host === "::" ? "::1" : address.host
    const socket = createConnection({ host, port: address.port })
    probes.set(socket, () => resume(Effect.succeed("accepts")))
    socket.on("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.succeed(error.code === "EMFILE" || error.code === "ENFILE" ? "exhausted" : "silent"))
    )
    return Effect.sync(() => {
      probes.delete(socket)
      socket.destroy()
    })
  }).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed("silent" as const) }))

/** Opens the listener; it stops accepting when the scope closes. */
export const listen: (options: ListenerOptions) => Effect.Effect<Listener, CannotListen, Scope.Scope> = Effect.fn(
  "Listener.listen"
)(function* (options: ListenerOptions) {
  const probes: Probes = new Map()
  const server = yield* Effect.acquireRelease(open(options, probes), stop)
  const bound = server.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : options.address.port
  const address = { host: options.address.host, port }
  return {
    name: options.name,
    address,
    stop: stop(server),
    accepts: Effect.suspend(() => (server.listening ? probe(address, probes) : Effect.succeed("silent" as const)))
  }
})
