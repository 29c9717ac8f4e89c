import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"
import { abort } from "../../src/transport/Abort.ts"

let server: Server
let port = 0

beforeAll(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).resume())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  port = address !== null && typeof address === "object" ? address.port : 0
})
afterAll(() => server.close())

const dialled = async (): Promise<Socket> => {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
  socket.on("error", () => {})
  await once(socket, "connect")
  return socket
}

const states: ReadonlyArray<readonly [string, (socket: Socket) => unknown]> = [
  ["that is open", () => undefined],
  ["with bytes on their way", (socket) => socket.write(Buffer.alloc(1024 * 1024))],
  ["whose end is on its way", (socket) => socket.end()],
  ["whose end has been said", (socket) => once(socket.end(), "finish")],
  ["whose last bytes are on their way", (socket) => socket.end(Buffer.alloc(1024 * 1024))]
]

describe("abort", () => {
  for (const [name, bring] of states)
    it(`lets go of a TCP socket ${name}`, async () => {
      const socket = await dialled()
      await bring(socket)
      const closed = once(socket, "close")
      abort(socket)
      await closed
      assert.isTrue(socket.closed)
    })
})
