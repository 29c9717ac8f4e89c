/**
 * Terminates TLS on connections whose ClientHello was already looked at and put back. One acceptor a certificate and
 * ALPN list; the certificate may change while it runs. A handshake that fails or takes over ten seconds is dropped.
 */
import type { Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { contained, guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { cutAfter } from "../listen/Linger.ts"
import type { PairSource } from "./PairSource.ts"

const HANDSHAKE_MILLIS = 10_000

export interface TlsAcceptor {
  readonly accept: (socket: Socket) => void
}

export interface TlsAcceptorOptions {
  readonly pairs: PairSource
  /** Protocols to select from, in our order; an empty list selects none and refuses nobody. */
  readonly alpn: ReadonlyArray<string>
  readonly onSecure: (socket: TLSSocket) => void
  readonly onFailure: () => void
  /** TLS 1.3 where what is proved is bound to the session by its exporter; 1.2 by default. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3"
  /** What is done about a fault in a callback of a connection, which it ends. */
  readonly ending: (socket: Socket) => OnFault
  /** The bound of a whole handshake; ten seconds by default. */
  readonly handshakeMillis?: number
  /** Yields to everything else between handshakes, so that a thousand agents that return at once starve no visitor. */
  readonly patient?: boolean
}

/** Handshakes begun in one turn of the event loop; beginning one costs about a millisecond of signing. */
const PER_TURN = 2

const inTurns = (start: (socket: Socket) => void) => {
  const waiting: Array<Socket> = []
  const turn = () => {
    for (const socket of waiting.splice(0, PER_TURN)) if (!socket.destroyed) start(socket)
    if (waiting.length > 0) setImmediate(turn)
  }
  return (socket: Socket) => {
    if (waiting.push(socket) === 1) setImmediate(turn)
  }
}

const endsOf = (socket: Socket) => `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`

/** Bounds whole handshakes: the server's own bound begins again with every byte that a slow peer drips. */
const bounded = (millis: number) => {
  const running = new Map<string, () => void>()
  return {
    begin: (socket: Socket) => {
      const ends = endsOf(socket)
      running.set(ends, cutAfter(socket, millis))
      socket.once("close", () => running.delete(ends))
    },
    done: (socket: Socket) => {
      running.get(endsOf(socket))?.()
      running.delete(endsOf(socket))
    }
  }
}

export const make = (options: TlsAcceptorOptions): TlsAcceptor => {
  const { pairs, alpn, ending, onSecure, onFailure, patient = false, handshakeMillis = HANDSHAKE_MILLIS } = options
  const { minVersion = "TLSv1.2" } = options
  const server = createServer({
    ...pairs.current,
    minVersion,
    handshakeTimeout: handshakeMillis,
    ...(alpn.length > 0 ? { ALPNProtocols: [...alpn] } : {})
  })
  const handshakes = bounded(handshakeMillis)
  server.on("secureConnection", (socket) => {
    handshakes.done(socket)
    const fault = ending(socket)
    guard(socket, fault)
    socket.on("error", () => undefined)
    socket.allowHalfOpen = true
    contained(fault, onSecure)(socket)
  })
  server.on("tlsClientError", (_error, socket) => {
    socket.destroy()
    onFailure()
  })
  pairs.onReplaced((pair) => server.setSecureContext({ ...pair, minVersion }))
  const begin = (socket: Socket) => {
    // Who leaves in the middle of a handshake is gone; only a relay has two independent halves.
    socket.allowHalfOpen = false
    handshakes.begin(socket)
    server.emit("connection", socket)
  }
  const start = (socket: Socket) => contained(ending(socket), begin)(socket)
  return { accept: patient ? inTurns(start) : start }
}
