/** Local services for tests. */
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type AddressInfo, type Server, type Socket } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"
import type { Origin as Settings } from "../../src/settings/Settings.ts"

/** The settings of a service at this port. */
export const plainOrigin = (port: number, host = "127.0.0.1"): Settings => ({
  place: { _tag: "Plain", host, port, isHttp2: false },
  ca: undefined,
  insecure: false,
  listing: false,
  hostHeader: "keep",
  protocol: "tcp",
  proxyProtocol: "none",
  healthPath: undefined,
  terminate: undefined
})

export interface Origin extends AsyncDisposable {
  readonly address: string
  readonly port: number
  readonly connections: () => number
}

/** A TCP service on the given port, or on a free one that no process gets by chance after the service has ended. */
export const startOrigin = async (serve: (socket: Socket) => void, port?: number): Promise<Origin> => {
  let connections = 0
  const open = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    connections++
    open.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => open.delete(socket))
    serve(socket)
  })
  server.listen(port ?? (await Effect.runPromise(freePort("127.0.0.1"))), "127.0.0.1")
  await once(server, "listening")
  const bound = (server.address() as AddressInfo).port
  return {
    address: `127.0.0.1:${bound}`,
    port: bound,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

/** Sends back what it gets and ends when the client ends. */
export const echo = (socket: Socket) => void socket.pipe(socket)

/** Reads to the end, then says how many bytes there were: works only with half-closed connections. */
export const counter = (socket: Socket) => {
  let bytes = 0
  socket.on("data", (chunk) => {
    bytes += chunk.length
  })
  socket.on("end", () => socket.end(`${bytes} bytes`))
}
