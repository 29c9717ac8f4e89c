/** The bytes of a stream, of a sender that is not trusted with this process's memory. */

/**
 * All bytes, or undefined as soon as there are more than `most`; the rest is not read, and the stream is destroyed.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Readable } from "node:stream"
 * import { readBounded } from "@catenet/platform/BoundedRead"
 *
 * const six = () => Readable.from([Buffer.from("twe"), Buffer.from("lve")])
 * assert.equal((await readBounded(six(), 6))?.toString(), "twelve")
 * assert.equal(await readBounded(six(), 5), undefined)
 * ```
 */
export const readBounded = async (
  parts: AsyncIterable<Uint8Array>,
  most: number
): Promise<Buffer<ArrayBuffer> | undefined> => {
  const read: Array<Uint8Array> = []
  let length = 0
  // Leaving the loop early destroys the stream, and with it the connection.
  for await (const part of parts) {
    length += part.length
    if (length > most) return undefined
    read.push(part)
  }
  return Buffer.concat(read, length)
}
