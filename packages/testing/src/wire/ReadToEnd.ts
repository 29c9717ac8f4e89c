import type { Readable } from "node:stream"

/**
 * All that a stream brings. `node:stream/consumers` destroys a stream that it has read to its end, with what the other half of a
 * duplex has not sent yet.
 */
export const readToEnd = (stream: Readable): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.once("end", () => resolve(Buffer.concat(chunks)))
    stream.once("error", reject)
    stream.once("close", () => reject(new Error("closed before its end")))
  })
