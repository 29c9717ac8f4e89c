/**
 * The service behind the tunnels, a process of its own and as cheap as one can be: HTTP/1.1 read no further than its
 * heads, on a plain port and on a TLS port. `GET /stream/<bytes>` sends so many, a POST is read to its end, everything
 * else is answered with 128 bytes.
 */
import { createServer } from "node:net"
import type { Duplex } from "node:stream"
import { createServer as createTlsServer } from "node:tls"
import { optionsOf, ready } from "./Service.ts"

const block = Buffer.alloc(64 * 1024, 7)
const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\n\r\n`
const answer = Buffer.from(`${head(128)}${"x".repeat(128)}`)

const send = (stream: Duplex, bytes: number) => {
  stream.write(head(bytes))
  let left = bytes
  const fill = () => {
    while (left > 0) {
      const piece = left >= block.length ? block : block.subarray(0, left)
      left -= piece.length
      if (!stream.write(piece)) return void stream.once("drain", fill)
    }
  }
  fill()
}

const serve = (stream: Duplex) => {
  let pending: Buffer = Buffer.alloc(0)
  let body = 0
  const respond = (text: string) => {
    const length = /^POST [^]*?\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    if (length !== undefined) body = Number(length)
    else if (text.startsWith("GET /stream/")) send(stream, Number(/\d+/.exec(text)?.[0]))
    else stream.write(answer)
  }
  stream.on("error", () => {})
  stream.on("end", () => stream.end())
  stream.on("data", (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      if (body > 0) {
        const taken = Math.min(body, pending.length)
        pending = pending.subarray(taken)
        body -= taken
        if (body > 0) return
        stream.write(answer)
      }
      const end = pending.indexOf("\r\n\r\n")
      if (end < 0) return
      const text = pending.toString("latin1", 0, end)
      pending = pending.subarray(end + 4)
      respond(text)
    }
  })
}

const port = (server: ReturnType<typeof createServer>) =>
  new Promise<number>((resolve) =>
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
      const address = server.address()
      resolve(address !== null && typeof address === "object" ? address.port : 0)
    })
  )

const { cert, key } = optionsOf()
const options = { noDelay: true, allowHalfOpen: true }
const tls = createTlsServer({ ...options, cert: String(cert), key: String(key) }, serve)
tls.on("tlsClientError", () => {})
ready({ plain: await port(createServer(options, serve)), tls: await port(tls) })
