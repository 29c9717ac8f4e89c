/**
 * How a connection is left after the last word: what the peer still sends is read and forgotten, so that no reset
 * overtakes the word, and after two seconds the connection is gone whatever the peer does.
 */
import type { Socket } from "node:net"

const LINGER_MILLIS = 2_000

/** Call it after the last write was handed over with `end`. */
export const linger = (socket: Socket): void => {
  socket.resume()
  // A bound on a raw socket that nobody waits for.
  const timer = setTimeout(() => socket.destroy(), LINGER_MILLIS).unref()
  socket.once("close", () => clearTimeout(timer))
}
