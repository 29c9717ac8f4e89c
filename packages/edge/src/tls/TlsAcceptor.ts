/**
 * Terminates TLS on connections whose ClientHello was already read and put back. One acceptor per certificate and ALPN list; the
 * certificate may change while it runs. A handshake that fails or takes over ten seconds is dropped.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { Sockets } from "@catenet/platform/Sockets"
import { resettable } from "@catenet/wire/transport/Abort"
import { guarded, guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { cutAfter } from "@catenet/wire/transport/LingeringClose"
import { serverTls } from "@catenet/wire/transport/ServerTls"
import type { Socket } from "node:net"
import type { SecureContext, Server, TLSSocket } from "node:tls"
import type { CertificateSource } from "./CertificateSource.ts"
import { periodMillis, type TicketKey, type TicketKeyRing } from "./TicketKeyRing.ts"

const defaultHandshakeMillis = 10_000

export interface TlsAcceptor {
  /**
   * `host` is the name in the ClientHello, because a resumed TLS 1.2 session does not report it. `ticket` is the key name at the
   * beginning of the session ticket.
   */
  readonly accept: (socket: Socket, host?: string, ticket?: string) => void
}

export interface TlsAcceptorOptions {
  /** For names that `contextOf` does not know; without it their handshakes fail. */
  readonly pairs?: CertificateSource | undefined
  /** The certificate of a name, if it has one of its own. */
  readonly contextOf?: ((host: string) => SecureContext | undefined) | undefined
  /**
   * Protocols to select from, in order of preference; an empty list selects none and accepts every client. `first` selects the
   * client's own preference, for clients that insist on an answer.
   */
  readonly alpn: ReadonlyArray<string> | "first"
  /** `accepted` is the connection below TLS. */
  readonly onSecure: (socket: TLSSocket, host: string, accepted: Socket) => void
  readonly onFailure: () => void
  /** TLS 1.3 if proofs are bound to the session by its exporter; 1.2 by default. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3"
  /** Handles a fault in a callback of a connection, and ends the connection. */
  readonly ending: (socket: Socket) => OnFault
  /** Time limit of a whole handshake; ten seconds by default. */
  readonly handshakeMillis?: number
  /** Yields between handshakes, so that a thousand agents that reconnect at once do not starve visitors. */
  readonly longHandshakeTimeout?: boolean
  /** Set if peers may resume at other processes and edges; a Node context encrypts and decrypts tickets with a single key. */
  readonly tickets?: TicketKeyRing
  /** Resets the TCP connection when it is cut, so that the peer does not take that for an orderly end. */
  readonly isResettable?: boolean
}

/** The session id context of all our processes and edges; by default Node derives it from the command line. */
const sessionKind = "catenet"

const ticketTerms = ({ bytes }: TicketKey) => ({
  ticketKeys: bytes,
  sessionIdContext: sessionKind,
  sessionTimeout: periodMillis / 1_000
})

/** Handshakes started in one turn of the event loop; each costs about a millisecond of signing. */
const perTurn = 2

const inTurns = (start: TlsAcceptor["accept"]): TlsAcceptor["accept"] => {
  const waiting: Array<Parameters<TlsAcceptor["accept"]>> = []
  const turn = () => {
    for (const [socket, ...known] of waiting.splice(0, perTurn)) if (!socket.destroyed) start(socket, ...known)
    if (waiting.length > 0) Scheduler.setImmediate(turn)
  }
  return (...asked) => {
    if (waiting.push(asked) === 1) Scheduler.setImmediate(turn)
  }
}

const endsOf = (socket: Socket) => `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`

interface Handshake {
  readonly inTime: () => void
  readonly host: string | undefined
  readonly socket: Socket
}

/** Limits whole handshakes, because the server's own timeout restarts with every byte. */
const bounded = (millis: number) => {
  const running = new Map<string, Handshake>()
  return {
    begin: (socket: Socket, host: string | undefined) => {
      const ends = endsOf(socket)
      running.set(ends, { inTime: cutAfter(socket, millis), host, socket })
      socket.once("close", () => running.delete(ends))
    },
    /** The ClientHello of the handshake. */
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
    contextOf,
    ending,
    onSecure,
    onFailure,
    longHandshakeTimeout = false,
    isResettable = false,
    tickets,
    handshakeMillis = defaultHandshakeMillis
  } = options
  const terms = { ...serverTls, minVersion: options.minVersion ?? serverTls.minVersion }
  const handshakes = bounded(handshakeMillis)
  const secured = (socket: TLSSocket) => {
    const handshake = handshakes.done(socket)
    const host = handshake?.host ?? (socket.servername || "")
    if (isResettable && handshake !== undefined) resettable(socket, handshake.socket)
    const fault = ending(socket)
    guard(socket, fault)
    socket.on("error", () => undefined)
    socket.allowHalfOpen = true
    guarded(fault, () => onSecure(socket, host, handshake?.socket ?? socket))()
  }
  const serverWith = (key: TicketKey | undefined) =>
    Sockets.tlsServer({
      ...pairs?.current,
      ...terms,
      ...(contextOf === undefined
        ? {}
        : {
            SNICallback: (name: string, done: (error: null, context?: SecureContext) => void) =>
              done(null, contextOf(name))
          }),
      ...(key === undefined ? {} : ticketTerms(key)),
      handshakeTimeout: handshakeMillis,
      ...(alpn === "first"
        ? { ALPNCallback: ({ protocols: [first] }: { protocols: Array<string> }) => first }
        : alpn.length > 0
          ? { ALPNProtocols: [...alpn] }
          : {})
    })
      .on("secureConnection", secured)
      .on("tlsClientError", (_error, socket) => {
        socket.destroy()
        onFailure()
      })
  const alone = tickets === undefined ? serverWith(undefined) : undefined
  const servers = new Map<string, Server>()
  const serverOf = (ring: TicketKeyRing, ticket: string | undefined) => {
    const key = (ticket === undefined ? undefined : ring.named(ticket)) ?? ring.current
    const known = servers.get(key.name)
    if (known !== undefined) return known
    for (const name of servers.keys()) if (ring.named(name) === undefined) servers.delete(name)
    const server = serverWith(key)
    servers.set(key.name, server)
    return server
  }
  pairs?.onReplaced((pair) => {
    for (const server of alone === undefined ? servers.values() : [alone])
      server.setSecureContext({ ...pair, ...terms })
  })
  const begin = (socket: Socket, host: string | undefined, ticket: string | undefined) => {
    // A peer that half-closes during the handshake is gone; only relays use half-open connections.
    socket.allowHalfOpen = false
    handshakes.begin(socket, host)
    const server = tickets === undefined ? alone : serverOf(tickets, ticket)
    server?.emit("connection", socket)
  }
  const start: TlsAcceptor["accept"] = (socket, host, ticket) =>
    guarded(ending(socket), () => begin(socket, host, ticket))()
  return { accept: longHandshakeTimeout ? inTurns(start) : start }
}
