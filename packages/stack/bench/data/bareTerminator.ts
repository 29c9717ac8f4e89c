/**
 * The least that ends TLS before an origin, on ports of its own: Node's TLS on a socket, and Node's TLS on a stream in JavaScript, as
 * that of a tunnel is. Bytes pass unread.
 */
import { connect, createServer, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { createSecureContext, TLSSocket } from "node:tls"
import { optionsOf, ready } from "./Service.ts"

const { cert, key, origin } = optionsOf()
const secureContext = createSecureContext({ cert: String(cert), key: String(key) })

const over = (socket: Socket): Duplex => {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void (socket.write(chunk) ? done() : socket.once("drain", done)),
    final: (done) => void socket.end(done)
  })
  socket.on("data", (chunk) => stream.push(chunk) || socket.pause())
  socket.on("end", () => stream.push(null))
  return stream
}

const serve = (stream: Duplex) => {
  const visitor = new TLSSocket(stream, { isServer: true, secureContext })
  const far = connect({ host: "127.0.0.1", port: Number(origin), noDelay: true })
  for (const side of [visitor, far]) side.on("error", () => void (visitor.destroy(), far.destroy()))
  visitor.on("close", () => far.destroy())
  visitor.pipe(far).pipe(visitor)
}

const port = (taken: (socket: Socket) => Duplex) =>
  new Promise<number>((resolve) => {
    const server = createServer({ noDelay: true }, (socket) => {
      socket.on("error", () => undefined)
      serve(taken(socket))
    })
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
      const address = server.address()
      resolve(address !== null && typeof address === "object" ? address.port : 0)
    })
  })

ready({ socket: await port((socket) => socket), stream: await port(over) })
