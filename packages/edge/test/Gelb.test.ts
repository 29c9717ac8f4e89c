import { readAll, readUntil, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, mintPair, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect, type TLSSocket } from "node:tls"

const T = token("1")
const tunnelHost = "app.zone.test"
const get = `GET /hello HTTP/1.1\r\nHost: ${tunnelHost}\r\n`

describe("a visitor of a gelb host", () => {
  it.live("reaches the agent through the edge's certificate, with its address added", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void readUntil(stream, "\r\n\r\n").then(() =>
          stream.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        )
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const answer = readAll(visitor)
      visitor.write(`${get}X-Forwarded-For: 9.9.9.9\r\n\r\n`)
      assert.match((yield* Effect.promise(() => answer)).toString(), /^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\nhi$/)
      visitor.end()
      const [stream] = agent.streams
      assert.strictEqual(stream?.header.kind, "visitor")
      assert.strictEqual(stream?.header.tls, "terminated")
      assert.strictEqual(stream?.header.host, tunnelHost)
      assert.strictEqual(stream?.header.client?.address, "127.0.0.1")
      const metrics = yield* Effect.promise(() => world.metrics())
      assert.strictEqual(metrics["ct_edge_relays_total"], 1)
      assert.isAbove(metrics["ct_edge_relay_bytes_total"] ?? 0, 60)
    }).pipe(Effect.scoped)
  )

  it.live("reaches the agent by a session of TLS 1.2 that it resumes", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void readUntil(stream, "\r\n\r\n").then(() => stream.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
      })
      let session: Buffer | undefined
      for (const isResumed of [false, true]) {
        const visitor = yield* Effect.promise(
          () =>
            new Promise<TLSSocket>((resolve, reject) => {
              const kept = session === undefined ? {} : { session }
              const tls = { port: world.frontDoor, servername: tunnelHost, ca: world.wildcardRoot, allowHalfOpen: true }
              const socket = connect({ ...tls, host: "127.0.0.1", maxVersion: "TLSv1.2", ...kept }, () =>
                resolve(socket)
              )
              socket.on("session", (fresh) => (session = fresh)).once("error", reject)
            })
        )
        assert.strictEqual(visitor.isSessionReused(), isResumed)
        const answer = readAll(visitor)
        visitor.write(`${get}\r\n`)
        assert.match((yield* Effect.promise(() => answer)).toString(), /^HTTP\/1.1 200 OK\r\n/)
        visitor.end()
      }
    }).pipe(Effect.scoped)
  )

  it.live("gets a page with 502 and Retry-After when no agent is there", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const answer = readAll(visitor)
      visitor.write(`${get}\r\n`)
      const text = (yield* Effect.promise(() => answer)).toString()
      assert.match(text, /^HTTP\/1.1 502 Bad Gateway\r\n/)
      assert.match(text, /\r\nRetry-After: 10\r\n/)
      assert.include(text, "This service is offline")
      visitor.end()
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_offline_tunnel_total"] === 1, "offline is counted")
      )
    }).pipe(Effect.scoped)
  )
})

describe("an origin that is down", () => {
  it.live("shows as a page with 502 before an answer has begun, and as a torn connection after", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const said: Array<string> = ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"]
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void readUntil(stream, "\r\n\r\n").then(() =>
          stream.write(said.shift() ?? "", () => setImmediate(() => stream.reset("origin-unreachable")))
        )
      })
      const ask = async () => {
        const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
        const heard: Array<Buffer> = []
        const over = new Promise((resolve) => visitor.once("end", () => resolve("ended")).once("close", resolve))
        visitor.on("data", (chunk: Buffer) => heard.push(chunk))
        visitor.write(`${get}\r\n`)
        await over
        visitor.end()
        return Buffer.concat(heard).toString()
      }
      assert.match(yield* Effect.promise(ask), /^HTTP\/1.1 502 Bad Gateway\r\n[^]*does not answer/)
      assert.match(yield* Effect.promise(ask), /^(HTTP\/1.1 200 OK\r\n[^]*half)?$/)
    }).pipe(Effect.scoped)
  )
})

describe("HTTP on a gelb host", () => {
  it.live("carries a WebSocket, both ways, after an upgrade", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void readUntil(stream, "\r\n\r\n").then((head) => {
          assert.include(head, "X-Forwarded-For: 127.0.0.1\r\n")
          stream.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
          stream.pipe(stream)
        })
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const upgraded = readUntil(visitor, "\r\n\r\n")
      visitor.write(`${get}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
      yield* Effect.promise(() => upgraded)
      const echoed = readUntil(visitor, "GET / not http")
      visitor.write("\x81\x05GET / not http", "latin1")
      assert.strictEqual(yield* Effect.promise(() => echoed), "\x81\x05GET / not http")
      visitor.end()
    }).pipe(Effect.scoped)
  )

  it.live("upgrades on a later request of a connection that was kept alive", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        void (async () => {
          await readUntil(stream, "\r\n\r\n")
          stream.write("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHTTP/1.1 101")
          await readUntil(stream, "Upgrade: websocket\r\n")
          stream.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
          stream.pipe(stream)
        })()
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const first = readUntil(visitor, "HTTP/1.1 101")
      visitor.write(`${get}\r\n`)
      yield* Effect.promise(() => first)
      const upgraded = readUntil(visitor, "websocket\r\n\r\n")
      visitor.write(`${get}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
      yield* Effect.promise(() => upgraded)
      const echoed = readUntil(visitor, "\x81\x05GET / not http")
      visitor.write("\x81\x05GET / not http", "latin1")
      yield* Effect.promise(() => echoed)
      visitor.end()
    }).pipe(Effect.scoped)
  )

  it.live("gets a 502 page when the origin closes without an answer, also to an upgrade", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      for (const wish of ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"]) {
        const { parked } = yield* slotAgent(world, T, "B", tunnelHost)
        const slot = Result.getOrThrow(parked)
        const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
        const answer = readAll(visitor)
        visitor.write(`${get}${wish}\r\n`)
        const stream = Result.getOrThrow(yield* Effect.promise(() => slot.taken))
        yield* Effect.promise(() => readUntil(stream, "\r\n\r\n"))
        stream.end()
        assert.match((yield* Effect.promise(() => answer)).toString(), /^HTTP\/1.1 502 [^]*does not answer/)
        visitor.end()
      }
    }).pipe(Effect.scoped)
  )

  it.live("is closed when visitor and agent left while its upgrade waited", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const { parked, socket } = yield* slotAgent(world, T, "B", tunnelHost)
      const slot = Result.getOrThrow(parked)
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      visitor.write(`${get}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
      const stream = Result.getOrThrow(yield* Effect.promise(() => slot.taken))
      yield* Effect.promise(() => readUntil(stream, "\r\n\r\n"))
      yield* Effect.promise(() => new Promise<void>((sent) => visitor.write("\x81\x00", () => sent())))
      visitor.destroy()
      socket.destroy()
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_connections"] === 0, "both connections are let go")
      )
    }).pipe(Effect.scoped)
  )

  it.live("is refused for another host than the one in the ClientHello, and for smuggled lengths", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      let heard = 0
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.on("data", (chunk: Buffer) => {
          heard += chunk.length
        })
      })
      for (const [request, status] of [
        ["GET / HTTP/1.1\r\nHost: other.zone.test\r\n\r\n", 421],
        [`${get}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400]
      ] as const) {
        const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
        const answer = readAll(visitor)
        visitor.write(request)
        assert.match((yield* Effect.promise(() => answer)).toString(), new RegExp(`^HTTP/1.1 ${status} `))
        visitor.end()
      }
      assert.strictEqual(heard, 0)
    }).pipe(Effect.scoped)
  )

  it.live("uses a renewed wildcard certificate without a restart", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const renewed = mintPair(["*.zone.test"])
      writeFileSync(join(world.folder, "wildcard-key.pem"), renewed.key)
      writeFileSync(join(world.folder, "wildcard.pem"), renewed.cert)
      const trusted = () =>
        tlsTo(world.frontDoor, renewed.root, tunnelHost).then(
          (visitor) => {
            visitor.destroy()
            return true
          },
          () => false
        )
      yield* Effect.promise(() => eventually(trusted, "the new certificate is served"))
    }).pipe(Effect.scoped)
  )
})
