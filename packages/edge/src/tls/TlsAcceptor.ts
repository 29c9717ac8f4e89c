/**
 * Terminates TLS on connections whose ClientHello was already looked at and put back. One acceptor a certificate and
 * ALPN list; the certificate may change while it runs. A handshake that fails or takes over ten seconds is dropped.
 */
import type { Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import type { PairSource } from "./PairSource.ts"

const HANDSHAKE_MILLIS = 10_000

export interface TlsAcceptor {
  readonly accept: (socket: Socket) => void
}

export const make = (options: {
  readonly pairs: PairSource
  /** Protocols to select from, in our order; an empty list selects none and refuses nobody. */
  readonly alpn: ReadonlyArray<string>
  readonly onSecure: (socket: TLSSocket) => void
  readonly onFailure: () => void
}): TlsAcceptor => {
  const { pairs, alpn, onSecure, onFailure } = options
  const server = createServer({
    ...pairs.current,
    minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_MILLIS,
    allowHalfOpen: true,
    ...(alpn.length > 0 ? { ALPNProtocols: [...alpn] } : {})
  })
  server.on("secureConnection", (socket) => {
    socket.on("error", () => undefined)
    onSecure(socket)
  })
  server.on("tlsClientError", (_error, socket) => {
    socket.destroy()
    onFailure()
  })
  pairs.onReplaced((pair) => server.setSecureContext({ ...pair, minVersion: "TLSv1.2" }))
  return { accept: (socket) => void server.emit("connection", socket) }
}
