/**
 * Connections to the database with one packet for all that is asked of one in a turn of the event loop. Requests come in
 * bursts, and on a shared connection each statement would else be a packet, a system call and a wake-up of the server of
 * its own.
 */
import { Redacted } from "effect"
import { Socket } from "node:net"

type Written = (error?: Error | null) => void

const gathering = (socket: Socket): Socket => {
  const write = socket.write
  socket.write = (chunk: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written): boolean => {
    if (socket.writableCorked === 0) {
      socket.cork()
      // After everything that has arrived has been looked at, and before the loop waits for more.
      setImmediate(() => socket.uncork())
    }
    return typeof encoding === "function"
      ? write.call(socket, chunk, undefined, encoding)
      : write.call(socket, chunk, encoding, written)
  }
  return socket
}

/** Opens connections to the server of a URL; `undefined` where the URL names it in another way than by host and port. */
export const to = (databaseUrl: Redacted.Redacted): (() => Socket) | undefined => {
  const { hostname, port, searchParams } = new URL(Redacted.value(databaseUrl))
  if (hostname === "" || hostname.startsWith("%2F") || searchParams.has("host") || searchParams.has("port")) return
  const address = { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 5432 : Number(port) }
  return () => gathering(new Socket().setNoDelay(true).connect(address))
}
