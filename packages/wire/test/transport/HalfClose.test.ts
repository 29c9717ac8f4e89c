import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server } from "node:net"
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls"
import { endHalf } from "../../src/transport/HalfClose.ts"
import { certificate, privateKey } from "./certificate.ts"

const [first, second, rest] = [1_000, 20, 1024 * 1024]
/** What TLS 1.3 adds to a record. */
const overhead = 22

const opened = async (server: Server) => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

/** Bytes that a client hears when it ends its half in the middle of a read that brings two records. */
const heard = async (end: (socket: TLSSocket) => void) => {
  const server = createTlsServer({ key: privateKey, cert: certificate, allowHalfOpen: true }, (socket) => {
    socket.setNoDelay(true)
    socket.write("ready")
    socket.once("data", () => socket.write(Buffer.alloc(first), () => socket.write(Buffer.alloc(second))))
    socket.on("end", () => socket.end(Buffer.alloc(rest)))
  })
  const port = await opened(server)
  let isAsked = false
  /** Delivers both records as one segment. */
  const joining = createServer({ allowHalfOpen: true }, (socket) => {
    const far = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
    let held: Buffer | undefined = Buffer.alloc(0)
    socket.pipe(far)
    far.on("data", (bytes: Buffer) => {
      if (!isAsked || held === undefined) return void socket.write(bytes)
      held = Buffer.concat([held, bytes])
      if (held.length < first + second + 2 * overhead) return
      socket.write(held)
      held = undefined
    })
    far.on("end", () => socket.end())
  })
  const to = { host: "127.0.0.1", port: await opened(joining), rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connectTls(to)
  // Whatever TLS says behind the handshake comes before it.
  await once(socket, "data")
  let bytes = 0
  socket.on("data", (chunk: Buffer) => {
    if (bytes === 0) end(socket)
    bytes += chunk.length
  })
  isAsked = true
  socket.write("hello")
  await once(socket, "end")
  server.close()
  joining.close()
  return bytes
}

describe("a half of a TLS connection that is ended within a read", () => {
  it("still brings everything that the peer sends", async () => {
    assert.strictEqual(await heard((socket) => endHalf(socket, () => {})), first + second + rest)
  })
  it("is lost by Node alone, so that the wait is still needed", async () => {
    assert.strictEqual(await heard((socket) => socket.end()), first)
  })
})
