/** The server's side of a TLS session on any stream. */
import { TLSSocket } from "@catenet/platform/Sockets"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import type { Duplex } from "node:stream"
import type { TLSSocketOptions } from "node:tls"
import { HalfOpenDuplex } from "./HalfOpenDuplex.ts"

/**
 * Takes the stream over. The socket emits `secure` after the handshake, and `close` in any case; `ending` makes what a fault in
 * one of its callbacks does.
 */
export const make = (stream: Duplex, options: TLSSocketOptions, ending: (socket: TLSSocket) => OnFault): TLSSocket => {
  const socket = new TLSSocket(new HalfOpenDuplex(stream), { ...options, isServer: true })
  guard(socket, ending(socket))
  // Only sockets of a `tls.Server` end by themselves when TLS breaks after the handshake. Others emit this event of Node's own
  // and stay open, and the client would wait for ever.
  socket.once("_tlsError", (error: Error) => socket.destroy(error))
  return socket
}
