/**
 * Datagrams on a byte stream: each behind its length, two bytes big-endian.
 */
import { Buffer } from "node:buffer"
import { view } from "./Frame.ts"

/** Bytes of the longest datagram that the length can tell; UDP itself carries fewer. */
export const maxDatagram = 65_535

const header = 2

/** The datagram behind its length; undefined where it is too long. */
export const encodeDatagram = (datagram: Uint8Array): Buffer | undefined => {
  if (datagram.length > maxDatagram) return undefined
  const bytes = Buffer.allocUnsafe(header + datagram.length)
  bytes.writeUInt16BE(datagram.length, 0)
  bytes.set(datagram, header)
  return bytes
}

/** Cuts a stream into its datagrams, however it is segmented. Keeps at most one unfinished datagram. */
export class DatagramReader {
  #rest: Buffer = Buffer.alloc(0)

  /** The datagrams that these bytes complete, over the same memory. */
  push(chunk: Uint8Array): ReadonlyArray<Buffer> {
    const bytes = this.#rest.length === 0 ? view(chunk) : Buffer.concat([this.#rest, chunk])
    const whole: Array<Buffer> = []
    let at = 0
    while (bytes.length - at >= header) {
      const end = at + header + bytes.readUInt16BE(at)
      if (end > bytes.length) break
      whole.push(bytes.subarray(at + header, end))
      at = end
    }
    this.#rest = at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at))
    return whole
  }
}
