/** Bodies that come byte by byte: what they cost the agent behind the edge, and other visitors beside them. */
import { readUntil, servingAgent } from "@catenet/testing/edge/Agent"
import { http2Fields, http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { CrumbBudget, crumbBurst, crumbsPerSecond } from "@catenet/wire/transport/CrumbBudget"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { connect as connectTcp } from "node:net"
import { connect, type TLSSocket } from "node:tls"

const T = token("1")
const tunnelHost = "app.zone.test"
/** Two seconds of what an address may send beyond its burst. */
const many = crumbBurst + 2 * crumbsPerSecond

const world = Effect.gen(function* () {
  const edge = yield* start()
  yield* Effect.promise(() => edge.authorize(T, tunnelHost, "gelb"))
  const seen = { pieces: 0 }
  const origin = createServer((request, response) => {
    if (request.method === "GET") {
      for (let at = 0; at < 5_000; at++) response.write("a")
      return void response.end("end")
    }
    let bytes = 0
    request.on("data", (chunk: Buffer) => (bytes += chunk.length))
    request.on("end", () => response.end(`got ${bytes}`))
  })
  yield* servingAgent(edge, T, [tunnelHost], (stream) => {
    stream.on("data", () => (seen.pieces += 1))
    origin.emit("connection", stream)
  })
  return { edge, seen }
})

const visitor = (edge: TestEdge, alpn: string, localAddress: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<TLSSocket>((resolve, reject) => {
          const socket: TLSSocket = connect(
            {
              socket: connectTcp({ host: "127.0.0.1", port: edge.frontDoor, localAddress, noDelay: true }),
              servername: tunnelHost,
              ca: edge.wildcardRoot,
              ALPNProtocols: [alpn]
            },
            () => resolve(socket)
          )
          socket.once("error", reject)
        })
    ),
    (socket) => Effect.sync(() => void socket.destroy())
  )

/** How long a request of another address takes. */
const beside = (edge: TestEdge) =>
  Effect.gen(function* () {
    const socket = yield* visitor(edge, "http/1.1", "127.0.0.3")
    const from = performance.now()
    socket.write(`POST / HTTP/1.1\r\nHost: ${tunnelHost}\r\nContent-Length: 0\r\n\r\n`)
    yield* Effect.promise(() => readUntil(socket, "got 0"))
    return performance.now() - from
  }).pipe(Effect.scoped)

const hello = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), http2Frame(4, 0, 0, Buffer.alloc(0))])

const crumbs = {
  "chunks of one byte over HTTP/1.1": {
    alpn: "http/1.1",
    head: Buffer.from(`POST / HTTP/1.1\r\nHost: ${tunnelHost}\r\nTransfer-Encoding: chunked\r\n\r\n`),
    one: Buffer.from("1\r\na\r\n"),
    last: Buffer.from("0\r\n\r\n")
  },
  "DATA frames of one byte over HTTP/2": {
    alpn: "h2",
    head: Buffer.concat([hello, http2Frame(1, 4, 1, http2Fields(0x83, tunnelHost))]),
    one: http2Frame(0, 0, 1, Buffer.from("a")),
    last: http2Frame(0, 1, 1, Buffer.alloc(0))
  }
}

describe("a body that comes byte by byte", () => {
  for (const [kind, { alpn, head, last, one }] of Object.entries(crumbs))
    it.live(`in ${kind} arrives whole, in few pieces, at its address's rate, and delays no other address`, () =>
      Effect.gen(function* () {
        const { edge, seen } = yield* world
        const socket = yield* visitor(edge, alpn, "127.0.0.2")
        const from = performance.now()
        const answered = Effect.promise(() => readUntil(socket, `got ${many}`))
        socket.write(Buffer.concat([head, ...Array.from({ length: many }, () => one), last]))
        const other = yield* beside(edge)
        yield* answered
        assert.isAbove(performance.now() - from, 1_000, "two seconds beyond the burst, less what one read brings")
        assert.isBelow(seen.pieces, many / 50)
        assert.isBelow(other, onThisMachine(1_000))
      }).pipe(Effect.scoped)
    )

  it.live("from an origin, in chunks of one byte, becomes few DATA frames for a visitor over HTTP/2", () =>
    Effect.gen(function* () {
      const { edge } = yield* world
      const socket = yield* visitor(edge, "h2", "127.0.0.2")
      let bytes = 0
      let text = ""
      socket.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        text += chunk.toString("latin1")
      })
      socket.write(Buffer.concat([hello, http2Frame(1, 5, 1, http2Fields(0x82, tunnelHost))]))
      yield* Effect.promise(() => eventually(() => text.includes("end"), "the answer is whole"))
      assert.isBelow(bytes, 10_000, "5,000 frames of one byte are 50,000 bytes")
    }).pipe(Effect.scoped)
  )
})

describe("small pieces of visitors", () => {
  it("are read at once up to a burst, then at the rate of their address, of IPv6 of the /64", () => {
    const budget = new CrumbBudget()
    assert.strictEqual(budget.spend("192.0.2.1", crumbBurst, 0), 0)
    assert.closeTo(budget.spend("192.0.2.1", crumbsPerSecond, 0), 1_000, 1e-6)
    assert.strictEqual(budget.spend("192.0.2.2", crumbBurst, 0), 0)
    assert.closeTo(budget.spend("192.0.2.1", 0, 500), 500, 1e-6)
    assert.strictEqual(budget.spend("2001:db8::1", crumbBurst, 0), 0)
    assert.isAbove(budget.spend("2001:db8::2", 1, 0), 0)
  })

  it("are forgotten by addresses that are at rest again", () => {
    const budget = new CrumbBudget()
    for (let at = 0; at < 1_000; at++) budget.spend(`192.0.2.${at % 250}`, 1, 0)
    assert.strictEqual(budget.size, 250)
    budget.spend("198.51.100.1", 1, 60_000)
    assert.strictEqual(budget.size, 1)
  })
})
