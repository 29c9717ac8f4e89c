/** An origin that says, a line for each request, what it understood. The port of its first line is where it listens. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const server = createServer((request, response) => {
  const pieces: Array<Buffer> = []
  const say = (whole: boolean) => {
    const names = request.rawHeaders
    const fields = names.flatMap((name, at) => (at % 2 === 0 ? [[name, names[at + 1] ?? ""]] : []))
    const { headers, method, socket, url } = request
    const body = Buffer.concat(pieces).toString("latin1")
    const seen = { port: String(socket.remotePort), method, target: url, host: headers.host ?? "", fields, body, whole }
    process.stdout.write(`${JSON.stringify(seen)}\n`)
  }
  request.on("data", (piece: Buffer) => pieces.push(piece))
  request.on("end", () => {
    say(true)
    response.setHeader("Content-Length", 2).end("ok")
  })
  request.on("error", () => say(false))
})
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
