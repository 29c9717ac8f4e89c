/** Ending the writable half of a connection whose peer still sends. */
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"

/**
 * Calls back once the end has been handed over. Node ends TLS by two calls of SSL_shutdown, and the second one reads: made from
 * within a read, it takes the next record of the same segment for an error, and all that the peer sends from then on is lost without
 * one. So TLS is ended after the read that is going on.
 */
export const endHalf = (stream: Duplex, done: () => void): void => {
  const end = () => {
    stream.end()
    done()
  }
  if (stream instanceof TLSSocket) setImmediate(end)
  else end()
}
