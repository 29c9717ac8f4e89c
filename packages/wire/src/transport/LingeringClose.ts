/**
 * How long a connection may stay: in a phase that must come to its end, and after the last word. It is left so that the
 * word arrives: what the peer still sends is read and forgotten, so that no reset overtakes the word, and after two seconds
 * the connection is gone whatever the peer does.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Duplex } from "node:stream"

const graceMillis = 2_000
/** A visitor that may no longer pass is to notice within a second. */
const finishMillis = 500

/** Cuts the connection after so long, however busy it is. Returns how to call that off. */
export const cutAfter = (socket: Duplex, millis: number): (() => void) => {
  // A bound on a raw socket, once a connection.
  const timer = Scheduler.setTimeout(() => socket.destroy(), millis).unref()
  const callOff = () => Scheduler.clearTimeout(timer)
  socket.once("close", callOff)
  return callOff
}

/** Call it after the last write was handed over with `end`. */
export const closeGracefully = (socket: Duplex): void => {
  socket.resume()
  cutAfter(socket, graceMillis)
}

/** Calls `cut` when a visitor that may no longer pass had its time to be answered, unless the stream has closed before. */
export const cutUnfinished = (stream: Duplex, cut: () => void): void => {
  const timer = Scheduler.setTimeout(cut, finishMillis).unref()
  stream.once("close", () => Scheduler.clearTimeout(timer))
}
