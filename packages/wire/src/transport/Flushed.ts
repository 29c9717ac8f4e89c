/** Waits for what was written to a stream of the process itself, such as stdout. A process that exits earlier loses the rest. */
import type { Writable } from "node:stream"

/** Resolves once the system has taken all that was written; rejects when the stream breaks first, as it does when its reader leaves. */
export const flushed = (stream: Writable): Promise<void> =>
  new Promise((resolve, reject) => {
    // An empty write is behind all others, and a stream that is destroyed fails it.
    stream.write("", (error) => (error == null ? resolve() : reject(error)))
  })
