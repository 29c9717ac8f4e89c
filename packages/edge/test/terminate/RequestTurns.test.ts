/** Many requests of one address at once: those of another address at the same edge do not wait for all of them. */
import { servingAgent } from "@catenet/testing/edge/Agent"
import { http2Fields, http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { connect as connectTcp } from "node:net"
import { connect, type TLSSocket } from "node:tls"

const T = token("1")
const [host, greedy, modest] = ["app.zone.test", "127.0.0.2", "127.0.0.3"] as const

/** An edge and an agent whose origin notes whose request it got, in their order. */
const world = Effect.gen(function* () {
  const edge = yield* start()
  yield* Effect.promise(() => edge.authorize(T, host, "gelb"))
  const order: Array<unknown> = []
  const origin = createServer((request, response) => {
    order.push(request.headers["x-forwarded-for"])
    response.end("ok")
  })
  yield* servingAgent(edge, T, [host], (stream) => void origin.emit("connection", stream))
  const visitor = (alpn: string, localAddress: string) =>
    Effect.acquireRelease(
      Effect.callback<TLSSocket>((resume) => {
        const socket: TLSSocket = connect(
          {
            socket: connectTcp({ host: "127.0.0.1", port: edge.frontDoor, localAddress, noDelay: true }),
            servername: host,
            ca: edge.wildcardRoot,
            ALPNProtocols: [alpn]
          },
          () => resume(Effect.succeed(socket))
        )
        socket.on("error", () => undefined)
      }),
      (socket) => Effect.sync(() => void socket.destroy())
    )
  return { order, visitor }
})

const hello = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), http2Frame(4, 0, 0, Buffer.alloc(0))])
const asks = (stream: number) => http2Frame(1, 5, stream, http2Fields(0x82, host))

describe("requests of several addresses", () => {
  it.live("over HTTP/2 take turns: one of another address starts beside hundreds, and all are answered", () =>
    Effect.gen(function* () {
      const { order, visitor } = yield* world
      const many = yield* Effect.forEach(Array.from({ length: 4 }), () => visitor("h2", greedy))
      const one = yield* visitor("h2", modest)
      for (const socket of [...many, one]) {
        socket.resume()
        socket.write(Buffer.concat([hello, asks(1)]))
      }
      const has = (count: number) => Effect.promise(() => eventually(() => order.length === count, `${count} requests`))
      yield* has(5)
      const burst = Buffer.concat(Array.from({ length: 100 }, (_, n) => asks(2 * n + 3)))
      for (const socket of many) socket.write(burst)
      one.write(asks(3))
      yield* has(406)
      assert.isBelow(order.lastIndexOf(modest), 200)
    }).pipe(Effect.scoped)
  )

  it.live("over HTTP/1.1 are all answered", () =>
    Effect.gen(function* () {
      const { order, visitor } = yield* world
      const asked = Effect.fnUntraced(function* (address: string) {
        const socket = yield* visitor("http/1.1", address)
        const answered = { count: 0 }
        const ask = () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        socket.on("data", (chunk: Buffer) => {
          answered.count += chunk.toString("latin1").split("HTTP/1.1 200").length - 1
          if (answered.count < 5) ask()
        })
        ask()
        yield* Effect.promise(() => eventually(() => answered.count === 5, "five answers"))
      })
      const addresses = Array.from({ length: 80 }, (_, n) => (n % 40 === 0 ? modest : greedy))
      yield* Effect.forEach(addresses, asked, { concurrency: "unbounded", discard: true })
      assert.strictEqual(order.length, 400)
    }).pipe(Effect.scoped)
  )
})
