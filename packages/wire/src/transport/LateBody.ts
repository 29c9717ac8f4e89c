/**
 * The rest of a request that is already answered (RFC 9112 section 9.6). It is read and dropped so that no reset overtakes the
 * answer: systems discard what they have received when a connection is reset.
 */
import type { Duplex } from "node:stream"

/** How much of a body is read, and for how long, once the answer to its request is complete. */
export const lateBodyBytes = 1024 * 1024
export const lateBodyMillis = 5_000

/**
 * Call it when the answer is written and the writable side is ended. Beyond the bound nothing more is read; a peer that has not
 * closed in time is cut.
 */
export const dropLateBody = (stream: Duplex): void => {
  let bytes = 0
  const timer = setTimeout(() => stream.destroy(), lateBodyMillis).unref()
  stream.once("close", () => clearTimeout(timer))
  stream.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length
    if (bytes > lateBodyBytes) stream.pause()
  })
  stream.resume()
}
