/** What floods of HTTP/2 say. */
import { http2Fields, http2Frame } from "../fuzz/Samples.ts"

const HEADERS = 1
const RESET = 3
const END_STREAM = 1

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
      numbered(stream, http2Frame(HEADERS, 5, 0, http2Fields(0x82, host))),
      numbered(stream, http2Frame(RESET, 0, 0, Buffer.of(0, 0, 0, code)))
    ])
  )

/** A request whose header block goes on after it. */
export const unfinished = (host: string) => http2Frame(HEADERS, END_STREAM, 1, http2Fields(0x82, host))
