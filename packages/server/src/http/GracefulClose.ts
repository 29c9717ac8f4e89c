/**
 * Closes a server gracefully: requests that arrive in the first moment are still answered, with `Connection: close`;
 * then idle connections are closed, and each other one after its response.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Server } from "node:http"
import type { Server as Listening } from "node:net"

const millisBetweenLooks = 50

/** Calls `done` for the last of so many calls. */
const atLast = (count: number, done: (error?: Error) => void) => {
  let left = count
  return (error?: Error) => {
    left -= 1
    if (left === 0) done(error)
  }
}

/**
 * Makes `server.close` leave idle connections open for `idleMillis`, and close the other sockets that take connections for the
 * server by then. Who writes answers asks `server.listening`.
 */
export const attach = (server: Server, idleMillis: number, others: ReadonlyArray<Listening> = []): void => {
  const close = server.close.bind(server)
  const closeIdle = server.closeIdleConnections.bind(server)
  server.close = (done) => {
    const open = others.filter(({ listening }) => listening)
    const ended = atLast(open.length + 1, (error) => {
      Scheduler.clearInterval(looking)
      done?.(error)
    })
    // `close` itself calls it, and a request that is on its way then meets a reset.
    server.closeIdleConnections = () => undefined
    close(ended)
    server.closeIdleConnections = closeIdle
    for (const other of open) other.close(() => ended())
    const began = Scheduler.monotonicMillis()
    const look = () => {
      if (Scheduler.monotonicMillis() - began >= idleMillis) closeIdle()
    }
    // Behind what has arrived by then: a busy process looks late.
    const looking = Scheduler.setInterval(() => Scheduler.setImmediate(look), millisBetweenLooks)
    return server
  }
}

/** Says `Connection: close` in each answer of a server that does not listen any more. */
export const announce = (server: Server): void => {
  server.prependListener("request", (_request, response) => {
    if (!server.listening) response.setHeader("connection", "close")
  })
}
