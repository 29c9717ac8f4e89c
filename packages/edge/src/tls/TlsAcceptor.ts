/**
 * Terminates TLS on connections whose ClientHello was already looked at and put back. One acceptor a certificate and
 * ALPN list; the certificate may change while it runs. A handshake that fails or takes over ten seconds is dropped.
 */
import { resettable } from "@catenet/wire/transport/Abort"
import { contained, guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { serverTls } from "@catenet/wire/transport/ServerTls"
import type { Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { cutAfter } from "../listen/GracefulClose.ts"
import type { PairSource } from "./PairSource.ts"

const defaultHandshakeMillis = 10_000

export interface TlsAcceptor {
  /** `host` is the name in the ClientHello: a resumed session of TLS 1.2 does not tell it again. */
  readonly accept: (socket: Socket, host?: string) => void
}

export interface TlsAcceptorOptions {
  readonly pairs: PairSource
  /** Protocols to select from, in our order; an empty list selects none and refuses no client. */
  readonly alpn: ReadonlyArray<string>
  readonly onSecure: (socket: TLSSocket, host: string) => void
  readonly onFailure: () => void
  /** TLS 1.3 where what is proved is bound to the session by its exporter; 1.2 by default. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3"
  /** What is done about a fault in a callback of a connection, which it ends. */
  readonly ending: (socket: Socket) => OnFault
  /** The bound of a whole handshake; ten seconds by default. */
  readonly handshakeMillis?: number
  /** Yields to everything else between handshakes, so that a thousand agents that return at once starve no visitor. */
  readonly patient?: boolean
  /** A connection that is cut is reset below TLS, so that its reader does not take that for an end. */
  readonly isResettable?: boolean
}

/** Handshakes begun in one turn of the event loop; beginning one costs about a millisecond of signing. */
const perTurn = 2

const inTurns = (start: TlsAcceptor["accept"]): TlsAcceptor["accept"] => {
  const waiting: Array<readonly [socket: Socket, host: string | undefined]> = []
  const turn = () => {
    for (const [socket, host] of waiting.splice(0, perTurn)) if (!socket.destroyed) start(socket, host)
    if (waiting.length > 0) setImmediate(turn)
  }
  return (socket, host) => {
    if (waiting.push([socket, host]) === 1) setImmediate(turn)
  }
}

const endsOf = (socket: Socket) => `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`

interface Handshake {
  readonly inTime: () => void
  readonly host: string | undefined
  readonly socket: Socket
}

/** Bounds whole handshakes: the server's own bound begins again with every byte that a slow peer drips. */
const bounded = (millis: number) => {
  const running = new Map<string, Handshake>()
  return {
    begin: (socket: Socket, host: string | undefined) => {
      const ends = endsOf(socket)
      running.set(ends, { inTime: cutAfter(socket, millis), host, socket })
      socket.once("close", () => running.delete(ends))
    },
    /** What the handshake began with. */
    done: (socket: Socket): Handshake | undefined => {
      const handshake = running.get(endsOf(socket))
      handshake?.inTime()
      running.delete(endsOf(socket))
      return handshake
    }
  }
}

export const make = (options: TlsAcceptorOptions): TlsAcceptor => {
  const {
    pairs,
    alpn,
    ending,
    onSecure,
    onFailure,
    patient = false,
    isResettable = false,
    handshakeMillis = defaultHandshakeMillis
  } = options
  const terms = { ...serverTls, minVersion: options.minVersion ?? serverTls.minVersion }
  const server = createServer({
    ...pairs.current,
    ...terms,
    handshakeTimeout: handshakeMillis,
    ...(alpn.length > 0 ? { ALPNProtocols: [...alpn] } : {})
  })
  const handshakes = bounded(handshakeMillis)
  server.on("secureConnection", (socket) => {
    const handshake = handshakes.done(socket)
    const host = handshake?.host ?? (socket.servername || "")
    if (isResettable && handshake !== undefined) resettable(socket, handshake.socket)
    const fault = ending(socket)
    guard(socket, fault)
    socket.on("error", () => undefined)
    socket.allowHalfOpen = true
    contained(fault, () => onSecure(socket, host))()
  })
  server.on("tlsClientError", (_error, socket) => {
    socket.destroy()
    onFailure()
  })
  pairs.onReplaced((pair) => server.setSecureContext({ ...pair, ...terms }))
  const begin = (socket: Socket, host: string | undefined) => {
    // Who leaves in the middle of a handshake is gone; only a relay has two independent halves.
    socket.allowHalfOpen = false
    handshakes.begin(socket, host)
    server.emit("connection", socket)
  }
  const start = (socket: Socket, host?: string) => contained(ending(socket), () => begin(socket, host))()
  return { accept: patient ? inTurns(start) : start }
}
