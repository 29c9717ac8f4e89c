/** The plain HTTP port: redirects every request to HTTPS (data-plane 1.2). */
import { cutAfter, closeGracefully } from "@catenet/wire/transport/LingeringClose"
import type { Socket } from "node:net"

const headBytes = 16_384
const headMillis = 5_000

/** The response to a complete request head, sans I/O. */
const answer = (head: string): string => {
  const [requestLine = "", ...fields] = head.split("\r\n")
  const target = /^[A-Z]+ (\/[\x21-\x7e]*) HTTP\/1\.[01]$/.exec(requestLine)?.[1]
  const host = fields
    .map((field) => /^host:[ \t]*([A-Za-z0-9.-]{1,253})(?::\d*)?[ \t]*$/i.exec(field)?.[1])
    .find(Boolean)
  return target === undefined || host === undefined
    ? "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    : `HTTP/1.1 308 Permanent Redirect\r\nLocation: https://${host}${target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
}

/** Reads one head (16 KiB, 5 s), answers, closes. */
export const receive = (socket: Socket): void => {
  let seen = ""
  const leave = () => socket.destroy()
  const read = (chunk: Buffer) => {
    seen += chunk.toString("latin1")
    const end = seen.indexOf("\r\n\r\n")
    if (end < 0 && seen.length <= headBytes) return
    inTime()
    socket.off("data", read).off("end", leave)
    socket.end(answer(end < 0 ? "" : seen.slice(0, end)), "latin1")
    closeGracefully(socket)
  }
  // Limits the whole head, so that sending it slowly does not extend the time.
  const inTime = cutAfter(socket, headMillis)
  socket.on("data", read).once("end", leave)
  socket.resume()
}
