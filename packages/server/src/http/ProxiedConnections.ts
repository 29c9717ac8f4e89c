/**
 * Takes the header of the PROXY protocol off connections that come from trusted proxies, before HTTP is read: the socket
 * has the client's address from then on. Bytes from anywhere else are left as they are; such a header is no HTTP there,
 * and is refused as that. A trusted proxy that sends no header is served under its own address, and the answer to `/readyz`
 * is marked, so that an edge with half of the pair notices when it starts.
 */
import { IncomingMessage, ServerResponse } from "@catenet/platform/Http"
import { type Address, readProxyHeader } from "@catenet/platform/ProxyProtocol"
import { Socket } from "@catenet/platform/Sockets"
import type { Server } from "node:http"

/** As long as the head of a request may take. */
const patienceMillis = 10_000

const named = (socket: Socket, { address, port }: Address) => {
  Object.defineProperty(socket, "remoteAddress", { value: address })
  Object.defineProperty(socket, "remotePort", { value: port })
}

/** Calls `pass` once the socket begins with what the client sent, and says if a header came. A broken or slow one ends it. */
const unwrap = (socket: Socket, pass: (hadHeader: boolean) => void) => {
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
    pass(read._tag === "Header")
    socket.resume()
  }
  socket.on("data", take).on("end", leave).on("error", leave)
  socket.setTimeout(patienceMillis, leave)
}

/** From now on the server believes those peers. */
export const accept = (server: Server, isTrusted: (address: string) => boolean): void => {
  const emit = server.emit.bind(server)
  const bare = new WeakSet<Socket>()
  server.emit = (event: string | symbol, ...args: Array<unknown>): boolean => {
    const [first, response] = args
    if (event === "request" && first instanceof IncomingMessage && response instanceof ServerResponse) {
      if (first.url === "/readyz" && bare.has(first.socket)) response.setHeader("x-ct-proxy-protocol", "expected")
    }
    if (event !== "connection" || !(first instanceof Socket) || !isTrusted(first.remoteAddress ?? ""))
      return Reflect.apply(emit, server, [event, ...args])
    unwrap(first, (hadHeader) => {
      if (!hadHeader) bare.add(first)
      emit("connection", first)
    })
    return true
  }
}
