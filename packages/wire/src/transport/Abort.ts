/** Cutting a stream so that its other end can tell the cut from an ordinary end. */
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"
import type { ResetCode } from "../frames/MuxReason.ts"
import type { CarrierStream } from "./Carrier.ts"

const isCarrierStream = (stream: Duplex): stream is CarrierStream =>
  "reset" in stream && typeof stream.reset === "function"

const isTcp = (stream: Duplex): stream is Socket =>
  stream instanceof Socket && !(stream instanceof TLSSocket) && stream.remoteAddress !== undefined

/** A socket that is saying its end cannot be reset: Node gives up half-way and keeps the descriptor for good. */
const isEnding = (socket: Socket): boolean => socket.writableEnded && !socket.writableFinished

const below = new WeakMap<Duplex, Socket>()

/** Lets `abort` reset the TCP connection below a TLS one: most readers take a close without close_notify for an end. */
export const resettable = (stream: TLSSocket, socket: Socket): void => {
  below.set(stream, socket)
}

/** A mux reset with its reason, a TCP RST, or for TLS that is not `resettable` a close without close_notify. */
export const abort = (stream: Duplex, code: ResetCode = "cancelled", sentence = ""): void => {
  if (stream.destroyed) return
  const socket = below.get(stream)
  if (socket !== undefined && !socket.destroyed) {
    socket.resetAndDestroy()
    stream.destroy()
  } else if (isCarrierStream(stream)) stream.reset(code, sentence)
  else if (isTcp(stream) && !isEnding(stream)) stream.resetAndDestroy()
  else stream.destroy()
}
