/** Services behind tunnels, each on a free port of loopback. */
import { createHash } from "node:crypto"
import { createServer, type Server } from "node:http"
import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net"
import type { Writable } from "node:stream"

export interface Origin {
  readonly port: number
  readonly close: () => Promise<void>
}

const listening = (server: Server | NetServer, port = 0): Promise<Origin> =>
  new Promise((resolve, reject) => {
    const sockets = new Set<Socket>()
    server.on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      resolve({
        port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            for (const socket of sockets) socket.destroy()
          })
      })
    })
  })

/** The byte at a position of the endless test stream; cheap to make and to check, and never the same block twice. */
export const block = (index: number, size: number): Buffer => {
  const bytes = Buffer.alloc(size, index & 0xff)
  bytes.writeUInt32BE(index >>> 0, 0)
  return bytes
}

export const blockSize = 64 * 1024

/** The SHA-256 of the first `size` bytes of the test stream. */
export const digestOfStream = (size: number): string => {
  const hash = createHash("sha256")
  for (let sent = 0, index = 0; sent < size; index++) {
    const next = block(index, blockSize).subarray(0, size - sent)
    hash.update(next)
    sent += next.length
  }
  return hash.digest("hex")
}

/** Writes so many bytes of the blocks, as fast as they are taken, and ends the stream. */
export const pour = (stream: Writable, size: number): void => {
  let sent = 0
  let index = 0
  const pump = () => {
    while (sent < size) {
      const next = block(index++, blockSize).subarray(0, size - sent)
      sent += next.length
      if (!stream.write(next)) return void stream.once("drain", pump)
    }
    stream.end()
  }
  pump()
}

/**
 * `GET /stream/<bytes>` sends so much of the test stream, `POST /digest` answers the SHA-256 of the body, `GET /slow`
 * answers after the given milliseconds; everything else says where it was asked.
 */
export const httpOrigin = (
  port?: number
): Promise<Origin & { readonly server: Server; readonly requests: () => number }> => {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    const [, kind, argument = "0"] = (request.url ?? "/").split("/")
    if (kind === "stream") {
      const size = Number(argument)
      response.writeHead(200, { "content-length": String(size) })
      return pour(response, size)
    }
    if (kind === "digest") {
      const hash = createHash("sha256")
      let size = 0
      request.on("data", (chunk: Buffer) => {
        hash.update(chunk)
        size += chunk.length
      })
      request.on("end", () => response.end(JSON.stringify({ digest: hash.digest("hex"), size })))
      return
    }
    if (kind === "slow") return void setTimeout(() => response.end("slow"), Number(argument))
    response.writeHead(200, { "content-type": "text/plain" }).end(`${request.method} ${request.url}`)
  })
  return listening(server, port).then((origin) => ({ ...origin, server, requests: () => requests }))
}

/** Answers each connection with a handler of the test's own. */
export const netOrigin = (handler: (socket: Socket) => void): Promise<Origin> =>
  listening(createNetServer({ allowHalfOpen: true }, handler))
