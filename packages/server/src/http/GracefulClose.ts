/**
 * How a server lets its clients go: what comes on an open connection in the first moment is still answered, with
 * `Connection: close`; after that moment idle connections are closed, and each other one when its answer is out.
 */
import type { Server } from "node:http"

const millisBetweenLooks = 50

/** Makes `server.close` leave idle connections open for `idleMillis`. Who writes answers asks `server.listening`. */
export const attach = (server: Server, idleMillis: number): void => {
  const close = server.close.bind(server)
  const closeIdle = server.closeIdleConnections.bind(server)
  server.close = (done) => {
    // `close` itself calls it, and a request that is on its way then meets a reset.
    server.closeIdleConnections = () => undefined
    close(done)
    server.closeIdleConnections = closeIdle
    const began = performance.now()
    const look = () => {
      if (performance.now() - began >= idleMillis) closeIdle()
    }
    // Behind what has arrived by then: a busy process looks late.
    const looking = setInterval(() => setImmediate(look), millisBetweenLooks)
    server.once("close", () => clearInterval(looking))
    return server
  }
}

/** Says `Connection: close` in each answer of a server that does not listen any more. */
export const announce = (server: Server): void => {
  server.prependListener("request", (_request, response) => {
    if (!server.listening) response.setHeader("connection", "close")
  })
}
