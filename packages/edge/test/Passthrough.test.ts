import { readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { helloFor } from "@catenet/testing/edge/Hello"
import { eventually, mintPair, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { TLSSocket } from "node:tls"

const T = token("2")
const tunnelHost = "own.example.test"

const dial = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true }, () => resolve(socket))
    socket.once("error", reject)
    socket.on("error", () => undefined)
  })

describe("a visitor of a passthrough host", () => {
  it.live("gets the certificate of the origin, and the agent gets its bytes unchanged", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const origin = mintPair([tunnelHost])
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        const server = new TLSSocket(stream as unknown as Socket, {
          isServer: true,
          cert: origin.cert,
          key: origin.key
        })
        server.on("error", () => undefined)
        server.once("data", (data: Buffer) => server.end(`you said ${data.toString()}`))
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, origin.root, tunnelHost))
      assert.isTrue(visitor.authorized)
      const answer = readAll(visitor)
      visitor.write("hello")
      assert.strictEqual((yield* Effect.promise(() => answer)).toString(), "you said hello")
      visitor.end()
    }).pipe(Effect.scoped)
  )

  it.live("is routed by a hello that comes byte by byte", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const hello = yield* Effect.promise(() => helloFor(tunnelHost))
      const agent = yield* servingAgent(world, T, [tunnelHost], () => undefined)
      const visitor = yield* Effect.promise(() => dial(world.frontDoor))
      visitor.setNoDelay(true)
      yield* Effect.promise(async () => {
        for (const byte of hello) {
          visitor.write(Buffer.of(byte))
          await new Promise((resolve) => setImmediate(resolve))
        }
        await eventually(() => agent.streams.length === 1, "a stream reaches the agent")
      })
      const [stream] = agent.streams
      const seen: Array<Buffer> = []
      stream?.on("data", (chunk: Buffer) => seen.push(chunk))
      yield* Effect.promise(() => eventually(() => Buffer.concat(seen).length >= hello.length, "the hello arrives"))
      assert.isTrue(Buffer.concat(seen).equals(hello))
      visitor.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("may end its half first and still gets the answer", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const hello = yield* Effect.promise(() => helloFor(tunnelHost))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void readAll(stream).then((bytes) => stream.end(`got ${bytes.length}`))
      })
      const visitor = yield* Effect.promise(() => dial(world.frontDoor))
      const answer = readAll(visitor)
      visitor.end(hello)
      assert.strictEqual((yield* Effect.promise(() => answer)).toString(), `got ${hello.length}`)
    }).pipe(Effect.scoped)
  )

  it.live("that reads slowly holds the agent back instead of filling the edge", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const hello = yield* Effect.promise(() => helloFor(tunnelHost))
      const total = 48 * 1024 * 1024
      let written = 0
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        const chunk = Buffer.alloc(64 * 1024, 7)
        const more = () => {
          while (written < total) {
            written += chunk.length
            if (!stream.write(chunk)) return stream.once("drain", more)
          }
          return stream.end()
        }
        more()
      })
      const visitor = yield* Effect.promise(() => dial(world.frontDoor))
      visitor.pause()
      visitor.write(hello)
      let before = -1
      yield* Effect.promise(() =>
        eventually(() => {
          const still = written > 0 && written === before
          before = written
          return still
        }, "the agent stops writing")
      )
      assert.isBelow(written, 24 * 1024 * 1024)
      let received = 0
      visitor.resume()
      visitor.on("data", (chunk: Buffer) => {
        received += chunk.length
      })
      yield* Effect.promise(() => new Promise((resolve) => visitor.once("end", resolve)))
      assert.strictEqual(received, total)
      visitor.end()
    }).pipe(Effect.scoped)
  )

  it.live("that goes away in the middle resets the agent's stream, and is counted", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const hello = yield* Effect.promise(() => helloFor(tunnelHost))
      const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.write("partial")
        stream.resume()
      })
      const visitor = yield* Effect.promise(() => dial(world.frontDoor))
      const partial = readUntil(visitor, "partial")
      visitor.write(hello)
      yield* Effect.promise(() => partial)
      visitor.resetAndDestroy()
      yield* Effect.promise(() => eventually(() => agent.streams[0]?.destroyed === true, "the stream is reset"))
      assert.strictEqual(agent.streams[0]?.resetBy?.by, "remote")
      const status = yield* Effect.promise(() => world.admin("GET", `/admin/tunnel-status/${T}`))
      assert.deepInclude(status.body, { connected: true, bytes_received: hello.length, bytes_sent: 7 })
    }).pipe(Effect.scoped)
  )

  it.live("gets one TLS alert for an unknown host, and another without an agent", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      for (const [host, code, counted] of [
        ["unknown.example.test", 112, "ct_edge_unknown_host_total"],
        [tunnelHost, 80, "ct_edge_offline_tunnel_total"]
      ] as const) {
        const hello = yield* Effect.promise(() => helloFor(host))
        const visitor = yield* Effect.promise(() => dial(world.frontDoor))
        const answer = readAll(visitor)
        visitor.write(hello)
        assert.deepStrictEqual(yield* Effect.promise(() => answer), Buffer.of(0x15, 3, 3, 0, 2, 2, code))
        visitor.end()
        const metrics = yield* Effect.promise(() => world.metrics())
        assert.strictEqual(metrics[counted], 1)
      }
    }).pipe(Effect.scoped)
  )
})
