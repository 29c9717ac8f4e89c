/** An HTTP proxy that opens tunnels (RFC 9110 section 9.3.6) and takes every name for this machine. */
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"

export interface ConnectProxy extends AsyncDisposable {
  readonly url: string
  /** What was asked for, in order. */
  readonly asked: Array<string>
  /** The local ports of its own connections to targets. */
  readonly ports: Set<number>
}

export const startProxy = async ({ credentials }: { readonly credentials?: string } = {}): Promise<ConnectProxy> => {
  const asked: Array<string> = []
  const ports = new Set<number>()
  const sockets = new Set<Socket>()
  const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`
  const server = createServer((_request, response) => void response.writeHead(405).end())
  server.on("connection", (socket) => sockets.add(socket))
  server.on("connect", ({ headers, url = "" }, client: Socket, head: Buffer) => {
    asked.push(url)
    client.on("error", () => {})
    if (wanted !== undefined && headers["proxy-authorization"] !== wanted)
      return void client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\n\r\n'
      )
    const target = connect({ host: "127.0.0.1", port: Number(url.split(":").at(-1)), allowHalfOpen: true })
    sockets.add(target)
    target.once("connect", () => {
      ports.add(target.localPort ?? 0)
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      target.write(head)
      client.pipe(target).pipe(client)
    })
    target.on("error", () => client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"))
    target.on("close", () => client.destroy())
    client.on("close", () => target.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    ports,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    }
  }
}
