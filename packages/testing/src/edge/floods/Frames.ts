/** What floods of HTTP/2 say. */
import { http2Fields, http2Frame } from "../fuzz/Samples.ts"

const headers = 1
const resetFrame = 3
const endStream = 1

export const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  http2Frame(4, 0, 0, Buffer.alloc(0))
])

const numbered = (stream: number, frame: Buffer) => {
  frame.writeUInt32BE(stream, 5)
  return frame
}

/** Requests of the host that are reset in the packet they begin in; `code` is what the visitor says about it. */
export const resets = (host: string, count: number, code: number, firstStream = 1) =>
  Buffer.concat(
    Array.from({ length: count }, (_, index) => firstStream + index * 2).flatMap((stream) => [
      numbered(stream, http2Frame(headers, 5, 0, http2Fields(0x82, host))),
      numbered(stream, http2Frame(resetFrame, 0, 0, Buffer.of(0, 0, 0, code)))
    ])
  )

/** A request whose header block goes on after it. */
export const unfinished = (host: string) => http2Frame(headers, endStream, 1, http2Fields(0x82, host))
