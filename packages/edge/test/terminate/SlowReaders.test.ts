/** Visitors over HTTP/2 who ask for long answers and read none of them. */
import { servingAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { type ClientHttp2Stream, connect as connectHttp2 } from "node:http2"
import { connect as connectTcp } from "node:net"
import { connect } from "node:tls"

const T = token("5")
const host = "app.zone.test"

/** So many answers on one connection that are not read. */
const unread = (world: TestEdge, localAddress: string, count: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect({
        socket: connectTcp({ host: "127.0.0.1", port: world.frontDoor, localAddress }),
        servername: host,
        ca: world.wildcardRoot,
        ALPNProtocols: ["h2"]
      })
      const session = connectHttp2(`https://${host}`, { createConnection: () => socket }).on("error", () => undefined)
      const streams = Array.from({ length: count }, () => session.request({ ":path": "/" }))
      for (const stream of streams) stream.on("error", () => undefined)
      return { session, streams }
    }),
    ({ session }) => Effect.sync(() => session.destroy())
  )

const tornOf = (streams: ReadonlyArray<ClientHttp2Stream>) => streams.filter(({ closed }) => closed).length

describe("answers over HTTP/2 that no visitor reads", () => {
  it.live(
    "stand still 256 at a time: of one address that has more the newest are torn, and another address keeps its own",
    () =>
      Effect.gen(function* () {
        const world = yield* start()
        yield* Effect.promise(() => world.authorize(T, host, "gelb"))
        const origin = createServer((_request, response) => {
          const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          }
          more()
          response.on("drain", more)
        })
        yield* servingAgent(world, T, [host], (stream) => void origin.emit("connection", stream))
        const others = yield* unread(world, "127.0.0.3", 2)
        const first = yield* unread(world, "127.0.0.2", 128)
        yield* Effect.sleep("6 seconds")
        assert.strictEqual(tornOf([...others.streams, ...first.streams]), 0, "130 may stand still")
        const more = [yield* unread(world, "127.0.0.2", 128), yield* unread(world, "127.0.0.2", 64)]
        const newest = more.flatMap(({ streams }) => streams)
        yield* Effect.promise(() =>
          eventually(
            () => tornOf(newest) === 66,
            () => `66 are torn, not ${tornOf(newest)}`
          )
        )
        assert.strictEqual(tornOf([...others.streams, ...first.streams]), 0)
        const [reader] = others.streams
        let bytes = 0
        reader?.on("data", (chunk: Buffer) => (bytes += chunk.length))
        yield* Effect.promise(() => eventually(() => bytes > 2_000_000, "the other address reads on"))
      }).pipe(Effect.scoped),
    60_000
  )
})
