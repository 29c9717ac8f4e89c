/**
 * Takes the header of the PROXY protocol off connections that come from trusted proxies, before HTTP is read: the socket
 * has the client's address from then on. Bytes from anywhere else are left as they are; such a header is no HTTP there,
 * and is refused as that.
 */
import { type Address, readProxyHeader } from "@catenet/platform/ProxyProtocol"
import { Socket } from "@catenet/platform/Sockets"
import type { Server } from "node:http"

/** As long as the head of a request may take. */
const patienceMillis = 10_000

const named = (socket: Socket, { address, port }: Address) => {
  Object.defineProperty(socket, "remoteAddress", { value: address })
  Object.defineProperty(socket, "remotePort", { value: port })
}

/** Calls `pass` once the socket begins with what the client sent. A header that is none, or too slow, ends it. */
const unwrap = (socket: Socket, pass: () => void) => {
  let seen: Buffer = Buffer.alloc(0)
  const leave = () => void socket.destroy()
  const settle = () => {
    socket.off("data", take).off("end", leave).off("error", leave).pause()
    socket.setTimeout(0).off("timeout", leave)
  }
  const take = (chunk: Buffer) => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
    const read = readProxyHeader(seen)
    if (read._tag === "Partial") return
    settle()
    if (read._tag === "Malformed") return leave()
    const rest = read._tag === "Absent" ? seen : seen.subarray(read.length)
    if (read._tag === "Header" && read.client !== undefined) named(socket, read.client)
    if (rest.length > 0) socket.unshift(rest)
    pass()
    socket.resume()
  }
  socket.on("data", take).on("end", leave).on("error", leave)
  socket.setTimeout(patienceMillis, leave)
}

/** From now on the server believes those peers. */
export const accept = (server: Server, isTrusted: (address: string) => boolean): void => {
  const emit = server.emit.bind(server)
  server.emit = (event: string | symbol, ...args: Array<unknown>): boolean => {
    const [socket] = args
    if (event !== "connection" || !(socket instanceof Socket) || !isTrusted(socket.remoteAddress ?? ""))
      return Reflect.apply(emit, server, [event, ...args])
    unwrap(socket, () => void emit("connection", socket))
    return true
  }
}
