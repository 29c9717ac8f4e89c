/**
 * The far end of the measurements, a process of its own: one TLS port that serves the same small protocol on a plain
 * connection and on every stream of a multiplexed one. First byte of a stream: `D` send many bytes, `U` take bytes until
 * their end and say one, `R` answer 101 bytes with 1 KiB and end, `K` the same again and again.
 */
import type { Duplex } from "node:stream"
import { createServer } from "node:tls"
import { Mux, muxAlpn } from "../src/transport/Mux.ts"
import { certificate, privateKey } from "../test/transport/certificate.ts"

export const requestBytes = 101
export const replyBytes = 1024
export const bulkBytes = 64 * 1024 * 1024

const block = Buffer.alloc(64 * 1024, 7)
const reply = Buffer.alloc(replyBytes, 7)

const send = (stream: Duplex): void => {
  let left = bulkBytes
  const fill = () => {
    while (left > 0) {
      left -= block.length
      if (!stream.write(block)) return
    }
    stream.end()
  }
  stream.on("drain", fill)
  fill()
}

const serve = (stream: Duplex): void => {
  stream.on("error", () => {})
  stream.once("data", (first: Buffer) => {
    const operation = String.fromCharCode(first[0] ?? 0)
    if (operation === "D") return send(stream)
    if (operation === "U") return stream.resume().on("end", () => stream.end("x"))
    let got = first.length
    const answer = () => {
      for (; got >= requestBytes; got -= requestBytes) {
        if (operation === "R") stream.end(reply)
        else stream.write(reply)
      }
    }
    stream.on("data", (chunk: Buffer) => {
      got += chunk.length
      answer()
    })
    stream.on("end", () => stream.end())
    return answer()
  })
}

if (process.argv[1] === import.meta.filename) {
  const options = { key: privateKey, cert: certificate, ALPNProtocols: [muxAlpn, "plain"], allowHalfOpen: true }
  const server = createServer(options, (socket) => {
    socket.setNoDelay(true)
    socket.on("error", () => {})
    if (socket.alpnProtocol !== muxAlpn) return serve(socket)
    const mux = new Mux(socket, { side: "dialler", onStream: serve })
    return void mux.closed
  })
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()))
  process.on("disconnect", () => process.exit())
}
