import { readAll, servingAgent } from "@catenet/testing/edge/Agent"
import { preface, resets } from "@catenet/testing/edge/floods/Frames"
import { http2Fields, http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { connect as connectTcp } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import { resetsPerMinute } from "../../src/terminate/RapidResetLimiter.ts"

const T = token("1")
const tunnelHost = "app.zone.test"
const headers = 1
const resetFrame = 3
const goaway = 7
const enhanceYourCalm = 11

const visitor = (world: TestEdge, localAddress = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<TLSSocket>((resolve, reject) => {
          const socket = connect(
            {
              socket: connectTcp({ host: "127.0.0.1", port: world.frontDoor, localAddress }),
              servername: tunnelHost,
              ca: world.wildcardRoot,
              ALPNProtocols: ["h2"]
            },
            () => resolve(socket)
          )
          socket.once("error", reject).on("error", () => undefined)
        })
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** What the edge says in its last frame, when it has ended the connection. */
const goodbye = (heard: Buffer) => {
  let last: { type: number | undefined; code: number } | undefined
  for (let at = 0; at + 9 <= heard.length; at += 9 + heard.readUIntBE(at, 3))
    last = { type: heard[at + 3], code: heard.length >= at + 17 ? heard.readUInt32BE(at + 13) : -1 }
  return last
}

const world = Effect.gen(function* () {
  const world = yield* start()
  yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
  const seen = { requests: 0, streams: 0 }
  const origin = createServer((_request, response) => {
    seen.requests += 1
    response.end("hi")
  })
  yield* servingAgent(world, T, [tunnelHost], (stream) => {
    seen.streams += 1
    origin.emit("connection", stream)
  })
  return { world, seen }
})

describe("a visitor that resets its HTTP/2 streams", () => {
  it.live(
    "gets ENHANCE_YOUR_CALM on that connection, its address may connect again, and no request reaches the origin",
    () =>
      Effect.gen(function* () {
        const { seen, world: edge } = yield* world
        for (const code of [8, 0]) {
          const address = `127.0.0.${code + 1}`
          const within = yield* visitor(edge, address)
          within.resume().write(Buffer.concat([preface, resets(tunnelHost, resetsPerMinute - 50, code)]))
          yield* Effect.sleep(300)
          assert.isFalse(within.destroyed || within.readableEnded, "within the budget")
          const over = yield* visitor(edge, address)
          const heard = Effect.promise(() => readAll(over))
          over.write(Buffer.concat([preface, resets(tunnelHost, 200, code)]))
          assert.deepStrictEqual(goodbye(yield* heard), { type: goaway, code: enhanceYourCalm })
          const again = yield* visitor(edge, address)
          assert.strictEqual(again.alpnProtocol, "h2", "its address is not locked out")
        }
        assert.deepStrictEqual(seen, { requests: 0, streams: 0 })
        const other = yield* visitor(edge, "127.0.0.77")
        other.resume().write(Buffer.concat([preface, http2Frame(headers, 5, 1, http2Fields(0x82, tunnelHost))]))
        yield* Effect.promise(() => eventually(() => seen.requests === 1, "another address is served"))
        const metrics = yield* Effect.promise(() => edge.metrics())
        assert.strictEqual(metrics["ct_edge_rapid_reset_closed_total"], 2)
      }).pipe(Effect.scoped)
  )

  it.live("leaves no connection to the agent that opened after the reset", () =>
    Effect.gen(function* () {
      const { seen, world: edge } = yield* world
      const socket = yield* visitor(edge)
      const [open, reset] = [
        http2Frame(headers, 5, 1, http2Fields(0x82, tunnelHost)),
        http2Frame(resetFrame, 0, 1, Buffer.of(0, 0, 0, 8))
      ]
      socket.resume().write(Buffer.concat([preface, open]))
      socket.write(reset)
      yield* Effect.promise(() =>
        eventually(async () => (await edge.metrics())["ct_edge_active_relays"] === 0, "no relay stays")
      )
      yield* Effect.sleep(200)
      assert.strictEqual((yield* Effect.promise(() => edge.metrics()))["ct_edge_active_relays"], 0)
      assert.isAtMost(seen.requests, 1)
    }).pipe(Effect.scoped)
  )
})
