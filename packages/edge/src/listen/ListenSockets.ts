/**
 * The sockets that listen at one address. Node accepts one connection per socket in each turn of its event loop, and with many
 * visitors a turn is long. So there are several sockets if the system supports SO_REUSEPORT; it distributes the connections.
 */
import { CannotListen } from "@catenet/platform/CannotListen"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import type { Server, Socket } from "node:net"

/** Connections that one process accepts in each turn of its loop. */
const several = 16

/**
 * Whether several processes share the address. `first`: this is the first of them, and checks that no other program listens there,
 * because it would get some of the connections.
 */
export type Sharing = "no" | "first" | "one-of-several"

export interface ListenSocketsOptions {
  readonly address: Address
  /** The variable that sets the address, for error messages. */
  readonly variable: string
  readonly sharing: Sharing
  /** How many sockets listen in this process; several by default. */
  readonly sockets?: number | undefined
  readonly onConnection: (socket: Socket) => void
  /** The system could not accept a connection. */
  readonly onFailure: () => void
}

interface ListenSocket {
  readonly port: number
  readonly server: Server
}

const notShareable = ConfigurationInvalid.of(
  "CT_EDGE_PROCESSES",
  "asks for several processes at one address, which this system does not offer",
  "set it to 1, or run several edges"
)

const cannotShare = ({ code }: NodeJS.ErrnoException) => code === "ENOTSUP" || code === "ENOPROTOOPT"

const stop = ({ server }: ListenSocket) =>
  Effect.sync(() => {
    if (server.listening) server.close()
  })

const closed = ({ server }: ListenSocket) =>
  Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))

const opened = (
  { address, onConnection, onFailure, variable }: ListenSocketsOptions,
  port: number,
  reusePort: boolean
) =>
  Effect.callback<ListenSocket, CannotListen | ConfigurationInvalid>((resume) => {
    const server = Sockets.tcpServer({ allowHalfOpen: true, pauseOnConnect: true }, onConnection)
    server.once("error", (error) => {
      const refusal = cannotShare(error) ? notShareable : CannotListen.of(variable, address, error)
      resume(Effect.fail(refusal))
    })
    server.listen({ host: address.host, port, backlog: 1_024, reusePort }, () => {
      server.removeAllListeners("error")
      server.on("error", onFailure)
      const bound = server.address()
      resume(Effect.succeed({ server, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })

const listenSocket = (options: ListenSocketsOptions, port: number, reusePort: boolean) =>
  Effect.acquireRelease(opened(options, port, reusePort), stop)

/** Fails if another program already listens there, because it would share the connections. */
const requireVacant = (options: ListenSocketsOptions) => {
  const refusing = { ...options, onConnection: (socket: Socket) => void socket.destroy() }
  return Effect.scoped(Effect.acquireRelease(opened(refusing, options.address.port, false), closed))
}

const shared = Effect.fn("ListenSockets.shared")(function* (options: ListenSocketsOptions) {
  const first = yield* listenSocket(options, options.address.port, true)
  const others = yield* Effect.replicateEffect(
    listenSocket(options, first.port, true),
    (options.sockets ?? several) - 1
  )
  return [first, ...others]
})

/** Opens them; they stop accepting when the scope closes. */
export const open = Effect.fn("ListenSockets.open")(function* (options: ListenSocketsOptions) {
  const { port } = options.address
  const alone = Effect.map(listenSocket(options, port, false), (only) => [only])
  if (options.sharing !== "one-of-several") yield* requireVacant(options)
  const sockets = yield* shared(options).pipe(
    Effect.catchTag("ConfigurationInvalid", (error) => (options.sharing === "no" ? alone : Effect.fail(error)))
  )
  return {
    port: sockets[0]?.port ?? port,
    /** Stops accepting; open connections stay open. Idempotent. */
    stop: Effect.forEach(sockets, stop, { discard: true }),
    isOpen: () => sockets.some(({ server }) => server.listening)
  }
})
