/**
 * Connections to the database with few packets for much that is asked in one turn of the event loop. Requests come in
 * bursts, and on a shared connection each statement would else be a packet, a system call and a wake-up of the server of
 * its own. A connection that has one thing to say in a turn, as in a transaction, says it at once.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { Socket } from "@catenet/platform/Sockets"
import { Redacted } from "effect"

type Written = (error?: Error | null) => void

/** So many statements do not wait for more: the server shall be at work while we are. */
const enough = 8

const corking = (socket: Socket): Socket => {
  const write = socket.write
  let inTurn = 0
  let isBusy = false
  const endOfTurn = () => {
    isBusy = inTurn > 1
    inTurn = 0
    if (socket.writableCorked > 0) socket.uncork()
  }
  socket.write = (chunk: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written): boolean => {
    // After everything that has arrived has been looked at, and before the loop waits for more.
    if (inTurn++ === 0) Scheduler.setImmediate(endOfTurn)
    if (isBusy && socket.writableCorked === 0) socket.cork()
    const goesOn =
      typeof encoding === "function"
        ? write.call(socket, chunk, undefined, encoding)
        : write.call(socket, chunk, encoding, written)
    if (inTurn % enough === 0 && socket.writableCorked > 0) socket.uncork()
    return goesOn
  }
  return socket
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** Where the server of a URL listens; `undefined` where the URL names it in another way than by host and port. */
export const addressOf = (databaseUrl: Redacted.Redacted): Address | undefined => {
  const { hostname, port, searchParams } = new URL(Redacted.value(databaseUrl))
  if (hostname === "" || hostname.startsWith("%2F") || searchParams.has("host") || searchParams.has("port")) return
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 5432 : Number(port) }
}

/** Opens a connection to a server. */
export const open = (address: Address): Socket => corking(new Socket().setNoDelay(true).connect({ ...address }))
