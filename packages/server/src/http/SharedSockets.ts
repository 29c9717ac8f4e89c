/**
 * Further sockets that listen at the address of a server. Node takes one connection from each for a turn of its event loop, so
 * that with many clients those who come at once wait for one another; the system spreads them over the sockets.
 */
import { CannotListen } from "@catenet/platform/CannotListen"
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect } from "effect"
import { createServer, type Server, type Socket } from "node:net"

/** Beside the server's own. */
const further = 15

const stop = (server: Server) => Effect.sync(() => void (server.listening && server.close()))

/** With the options that Node gives the socket of an HTTP server. */
const opened = (address: Address, reusePort: boolean, onConnection: (socket: Socket) => void) =>
  Effect.callback<Server, CannotListen>((resume) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection)
    server.once("error", (error) => resume(Effect.fail(CannotListen.of("CT_CONTROL_PLANE_LISTEN", address, error))))
    server.listen({ ...address, reusePort }, () => {
      server.removeAllListeners("error")
      // It could not take one connection.
      server.on("error", () => {})
      resume(Effect.succeed(server))
    })
  })

const closed = (server: Server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))

const refuse = (socket: Socket) => void socket.destroy()

/**
 * Whether the server may share its address with further sockets. Fails when another program listens there already: it would get
 * a part of the connections without an error.
 */
export const canShare = Effect.fn("SharedSockets.canShare")(function* (address: Address) {
  yield* Effect.scoped(Effect.acquireRelease(opened(address, false, refuse), closed))
  const any = { host: address.host, port: 0 }
  return yield* Effect.scoped(Effect.acquireRelease(opened(any, true, refuse), closed)).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
})

/** Opens them until the scope closes; they are closed before that by who closes the server. */
export const open = (address: Address, onConnection: (socket: Socket) => void) =>
  Effect.replicateEffect(Effect.acquireRelease(opened(address, true, onConnection), stop), further)
