/** How long a visitor may keep a connection on which it asks for nothing. */
import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { helloFor } from "@catenet/testing/edge/Hello"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { connect as connectTcp, type Socket } from "node:net"

const ended = { token: token("1"), host: "app.zone.test" }
const passedThrough = { token: token("2"), host: "own.zone.test" }

const world = (variables: Record<string, string>) =>
  Effect.gen(function* () {
    const edge = yield* start(variables)
    yield* Effect.promise(() => edge.authorize(ended.token, ended.host, "gelb"))
    yield* Effect.promise(() => edge.authorize(passedThrough.token, passedThrough.host))
    const origin = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      if (request.url !== "/slow") response.end("served")
    })
    origin.on("upgrade", (_request, socket) => void socket.write("HTTP/1.1 101 \r\nConnection: upgrade\r\n\r\n"))
    yield* servingAgent(edge, ended.token, [ended.host], (stream) => void origin.emit("connection", stream))
    yield* servingAgent(edge, passedThrough.token, [passedThrough.host], () => undefined)
    return edge
  })

const visitor = (edge: TestEdge, alpn: string) =>
  Effect.acquireRelease(
    Effect.promise(() => tlsTo(edge.frontDoor, edge.wildcardRoot, ended.host, [alpn])),
    (socket) => Effect.sync(() => void socket.destroy())
  )

const whenClosed = (socket: Socket) => {
  const from = performance.now()
  return new Promise<number>((resolve) => {
    socket.resume()
    socket.once("end", () => resolve(performance.now() - from)).once("close", () => resolve(performance.now() - from))
  })
}

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: ${ended.host}\r\n${more}\r\n`

describe.concurrent("a connection of a visitor", () => {
  it.live("is let go when no request ran for CT_EDGE_VISITOR_IDLE_SECS, and never while one runs or it left HTTP", () =>
    Effect.gen(function* () {
      const edge = yield* world({ CT_EDGE_VISITOR_IDLE_SECS: "1" })
      const [idle, running, upgraded] = [
        yield* visitor(edge, "http/1.1"),
        yield* visitor(edge, "http/1.1"),
        yield* visitor(edge, "http/1.1")
      ]
      const second = yield* visitor(edge, "h2")
      const client = connectHttp2(`https://${ended.host}`, { createConnection: () => second })
      client.on("error", () => undefined)
      yield* Effect.promise(async () => {
        running.write(get("/slow"))
        upgraded.write(get("/", "Connection: Upgrade\r\nUpgrade: websocket\r\n"))
        await readUntil(upgraded, "101")
        idle.write(get("/"))
        await readUntil(idle, "served")
        const answered = new Promise((resolve) => client.request({ ":path": "/" }).resume().once("close", resolve))
        await answered
        const [first, other] = await Promise.all([whenClosed(idle), whenClosed(second)])
        assert.isAbove(Math.min(first, other), 500)
        assert.isBelow(Math.max(first, other), onThisMachine(8_000))
        assert.isFalse(running.destroyed || running.readableEnded)
        assert.isFalse(upgraded.destroyed || upgraded.readableEnded)
        client.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live(
    "ends when it says nothing for 15 s behind its handshake, or behind its ClientHello where TLS ends elsewhere",
    () =>
      Effect.gen(function* () {
        const edge = yield* world({})
        const [first, second] = [yield* visitor(edge, "http/1.1"), yield* visitor(edge, "h2")]
        const client = connectHttp2(`https://${ended.host}`, { createConnection: () => second })
        client.on("error", () => undefined)
        const hello = yield* Effect.promise(() => helloFor(passedThrough.host))
        const unread = connectTcp({ host: "127.0.0.1", port: edge.frontDoor })
        unread.on("error", () => undefined).write(hello)
        yield* Effect.promise(async () => {
          for (const millis of await Promise.all([first, second, unread].map(whenClosed))) {
            assert.isAbove(millis, 14_000)
            assert.isBelow(millis, onThisMachine(22_000))
          }
          await eventually(async () => (await edge.metrics())["ct_edge_visitor_connections"] === 0, "none is left")
          client.destroy()
        })
      }).pipe(Effect.scoped),
    { timeout: 40_000 }
  )
})
