/** Serves ACME servers over HTTPS at one port, each below a path of its own. */
import { readBounded } from "@catenet/platform/BoundedRead"
import { Http } from "@catenet/platform/Http"
import type { AddressInfo, Socket } from "node:net"
import type { Reply } from "./AcmeProblem.ts"

export interface Listening {
  readonly port: number
  close(): Promise<void>
}

/** What answers the requests below a path. */
export interface Answering {
  answer(method: string, path: string, body: string): Promise<Reply>
}

const longestBody = 65_536

export interface Options {
  readonly host: string
  readonly port: number
  readonly certificate: string
  readonly key: string
  /** The server of a path without a slash at the end, by the port that is listened at. */
  readonly servers: (port: number) => ReadonlyArray<{ readonly path: string; readonly server: Answering }>
}

export const listen = async ({ certificate, host, key, port, servers }: Options): Promise<Listening> => {
  let paths: ReturnType<Options["servers"]> = []
  const listener = Http.secureServer({ cert: certificate, key }, (request, response) => {
    const { method = "", url = "" } = request
    const answer = async () => {
      const found = paths.find(({ path }) => url.startsWith(`${path}/`))
      const body = found === undefined ? undefined : (await readBounded(request, longestBody))?.toString("utf8")
      if (found === undefined || body === undefined) return { status: 404 }
      return found.server.answer(method, url.slice(found.path.length), body)
    }
    response.on("error", () => {})
    void answer().then(
      ({ body, headers, status }: Reply) => response.writeHead(status, headers).end(body),
      () => response.destroy()
    )
  })
  // Those that never finish their handshake are no connections of HTTP, which would be closed with it.
  const sockets = new Set<Socket>()
  listener.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject)
    listener.listen(port, host, resolve)
  })
  const { port: bound } = listener.address() as AddressInfo
  paths = servers(bound)
  return {
    port: bound,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => listener.close(() => resolve()))
    }
  }
}
