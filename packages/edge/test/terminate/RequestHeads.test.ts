import { readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { http2Fields, http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { TLSSocket } from "node:tls"

const T = token("1")
const tunnelHost = "app.zone.test"
const plainRequest = `GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`
const half = plainRequest.slice(0, -3)
const post = `POST / HTTP/1.1\r\nHost: ${tunnelHost}\r\nContent-Length: 4\r\n\r\n`
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
const timeoutResponse = /HTTP\/1\.1 408 [^]*connection: close[^]*the request head was not complete in time\n$/i

const after = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** An edge that gives a request head one second, and an origin that answers every head; it counts its connections. */
const edge = Effect.gen(function* () {
  const world = yield* start({ CT_EDGE_REQUEST_HEAD_SECS: "1" })
  yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
  yield* servingAgent(world, T, [tunnelHost], (stream) => {
    stream.on("error", () => undefined)
    let seen = ""
    stream.on("data", (chunk: Buffer) => {
      seen += chunk.toString("latin1")
      for (; seen.includes("\r\n\r\n"); seen = seen.slice(seen.indexOf("\r\n\r\n") + 4)) stream.write(ok)
    })
  })
  return world
})

const visitor = (world: TestEdge, alpn: "http/1.1" | "h2") =>
  Effect.acquireRelease(
    Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, [alpn])),
    (socket) => Effect.sync(() => socket.destroy())
  )

type Case = readonly [rule: string, act: (socket: TLSSocket) => Promise<void>]

/** What the visitor heard when the edge had ended the connection. */
const refused = async (socket: TLSSocket, ...parts: ReadonlyArray<string>) => {
  const heard = readAll(socket)
  for (const part of parts) socket.write(part)
  const answer = (await heard).toString("latin1")
  assert.match(answer, timeoutResponse)
  return answer
}

const http1: ReadonlyArray<Case> = [
  ["half a first request head", async (socket) => void (await refused(socket, half))],
  ["an empty line before a first request head", async (socket) => void (await refused(socket, "\r\n"))],
  [
    "a request head that comes byte by byte",
    async (socket) => {
      const bytes = Array.from(half)
      const timer = setInterval(() => socket.write(bytes.shift() ?? ""), 100)
      await refused(socket).finally(() => clearInterval(timer))
    }
  ],
  [
    "half a head after an answered request",
    async (socket) => {
      const answer = readUntil(socket, "hi")
      socket.write(plainRequest)
      await answer
      await refused(socket, half)
    }
  ],
  [
    "half a head in the packet of a whole request",
    async (socket) => assert.isTrue((await refused(socket, plainRequest + half)).startsWith(ok))
  ]
]

const within: ReadonlyArray<Case> = [
  [
    "a head that is complete in time, and the idle connection after it",
    async (socket) => {
      for (const _turn of [1, 2]) {
        const answer = readUntil(socket, "hi")
        socket.write(half)
        await after(500)
        socket.write(plainRequest.slice(half.length))
        await answer
        await after(1_500)
      }
    }
  ],
  [
    "a body that takes longer than a head may",
    async (socket) => {
      const first = readUntil(socket, "hi")
      socket.write(`${post}ab`)
      await first
      await after(1_500)
      const second = readUntil(socket, "hi")
      socket.write(`cd${plainRequest}`)
      await second
    }
  ]
]

const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), http2Frame(4, 0, 0, Buffer.alloc(0))])

describe("a request head has a time limit of its own:", () => {
  it.live("a late one is answered 408 and closed, on a new connection and on a kept one", () =>
    Effect.gen(function* () {
      const world = yield* edge
      yield* Effect.forEach(
        [...http1, ...within],
        ([, act]) => Effect.flatMap(visitor(world, "http/1.1"), (socket) => Effect.promise(() => act(socket))),
        { concurrency: "unbounded" }
      )
      yield* Effect.promise(() =>
        eventually(
          async () => (await world.metrics())["ct_edge_visitor_connections"] === within.length,
          "they are closed"
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("an HTTP/2 connection whose header block stays open is cut, also with other requests running", () =>
    Effect.gen(function* () {
      const world = yield* edge
      const socket = yield* visitor(world, "h2")
      socket.resume().write(preface)
      socket.write(http2Frame(1, 5, 1, http2Fields(0x82, tunnelHost)))
      // HEADERS without END_HEADERS, then CONTINUATION frames without it.
      socket.write(http2Frame(1, 1, 3, http2Fields(0x82, tunnelHost)))
      const begun = performance.now()
      for (const _part of [1, 2, 3]) {
        yield* Effect.promise(() => after(250))
        socket.write(http2Frame(9, 0, 3, Buffer.of(0, 1, 0x61, 1, 0x62)))
      }
      yield* Effect.promise(() => eventually(() => socket.destroyed || socket.readableEnded, "it is cut"))
      assert.isAbove(performance.now() - begun, 900)
    }).pipe(Effect.scoped)
  )

  it.live("an HTTP/2 connection with a long request, and one with a malformed request, stay open", () =>
    Effect.gen(function* () {
      const world = yield* edge
      const socket = yield* visitor(world, "h2")
      const resets: Array<number> = []
      socket.on("data", (chunk: Buffer) => {
        // Whole frames come in one piece on loopback.
        for (let at = 0; at < chunk.length; at += 9 + chunk.readUIntBE(at, 3)) {
          const [type, flags] = [chunk[at + 3], chunk[at + 4]]
          if (type === 3) resets.push(chunk.readUInt32BE(at + 5))
          if (type === 6 && flags === 0) socket.write(http2Frame(6, 1, 0, chunk.subarray(at + 9, at + 17)))
        }
      })
      socket.write(Buffer.concat([preface, http2Frame(1, 4, 1, http2Fields(0x83, tunnelHost))]))
      // The method twice: the block is whole, the stream is reset and never announced.
      socket.write(http2Frame(1, 5, 3, Buffer.of(0x82, 0x82)))
      yield* Effect.promise(() => after(2_500))
      assert.deepStrictEqual(resets, [3])
      assert.isFalse(socket.destroyed || socket.readableEnded)
    }).pipe(Effect.scoped)
  )
})
