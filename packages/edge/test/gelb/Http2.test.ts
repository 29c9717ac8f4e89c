import { createServer, type RequestListener } from "node:http"
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2"
import type { Duplex } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { servingAgent, tlsTo } from "../world/Agent.ts"
import { eventually, start, token, type World } from "../world/World.ts"

const T = token("f")
const HOST = "app.zone.test"

/** An agent in front of a real HTTP server. */
const origin = (world: World, listener: RequestListener) => {
  const server = createServer(listener)
  return servingAgent(world, T, [HOST], (stream: Duplex) => void server.emit("connection", stream))
}

const session = (world: World) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = await tlsTo(world.frontDoor, world.wildcardRoot, HOST, ["h2", "http/1.1"])
      assert.strictEqual(socket.alpnProtocol, "h2")
      return connect(`https://${HOST}`, { createConnection: () => socket, maxSessionMemory: 100 })
    }),
    (client) => Effect.sync(() => client.destroy())
  )

const fetchOn = (client: ClientHttp2Session, headers: IncomingHttpHeaders, body?: Buffer) =>
  Effect.promise(
    () =>
      new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
        const stream = client.request(
          { ":path": "/", ":authority": HOST, ...headers },
          { endStream: body === undefined }
        )
        const chunks: Array<Buffer> = []
        let answer: IncomingHttpHeaders = {}
        stream.on("response", (response) => {
          answer = response
        })
        stream.on("data", (chunk: Buffer) => chunks.push(chunk))
        stream.on("end", () =>
          resolve({ status: Number(answer[":status"]), headers: answer, body: Buffer.concat(chunks) })
        )
        stream.on("error", reject)
        if (body !== undefined) stream.end(body)
      })
  )

describe("a visitor that speaks HTTP/2", () => {
  it.live("reaches an HTTP/1.1 origin, which learns who it is", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorise(T, HOST, "gelb"))
      yield* origin(world, (request, response) => {
        response.setHeader("set-cookie", ["a=1", "b=2"])
        response.setHeader("connection", "keep-alive, x-hop")
        response.end(JSON.stringify({ url: request.url, version: request.httpVersion, headers: request.headers }))
      })
      const client = yield* session(world)
      const { status, headers, body } = yield* fetchOn(client, {
        ":path": "/a?b=c",
        "x-forwarded-for": "6.6.6.6",
        cookie: "x=1; y=2"
      })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(headers["set-cookie"], ["a=1", "b=2"])
      const seen = JSON.parse(body.toString())
      assert.strictEqual(seen.url, "/a?b=c")
      assert.strictEqual(seen.version, "1.1")
      assert.deepInclude(seen.headers, {
        host: HOST,
        cookie: "x=1; y=2",
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "https",
        forwarded: `for=127.0.0.1;host="${HOST}";proto=https`
      })
    }).pipe(Effect.scoped)
  )

  it.live("sends many requests at once over few streams to the agent, bodies whole", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorise(T, HOST, "gelb"))
      const agent = yield* origin(world, (request, response) => void request.pipe(response))
      const client = yield* session(world)
      const bodies = Array.from({ length: 40 }, (_, index) => Buffer.alloc(1 + index * 20_000, index))
      const answers = yield* Effect.forEach(bodies, (body) => fetchOn(client, { ":method": "POST" }, body), {
        concurrency: "unbounded"
      })
      for (const [index, { body }] of answers.entries()) assert.isTrue(body.equals(bodies[index] ?? Buffer.alloc(0)))
      yield* Effect.forEach(bodies, (body) => fetchOn(client, { ":method": "POST" }, body))
      assert.isAtMost(agent.streams.length, 50)
    }).pipe(Effect.scoped)
  )

  it.live("is told apart by host: 421 for another one, 502 without an agent, 503 outside the window", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorise(T, HOST, "gelb"))
      const client = yield* session(world)
      const offline = yield* fetchOn(client, {})
      assert.strictEqual(offline.status, 502)
      assert.strictEqual(offline.headers["retry-after"], "10")
      assert.include(offline.body.toString(), "offline")
      assert.strictEqual((yield* fetchOn(client, { ":authority": "other.zone.test" })).status, 421)
      yield* origin(world, (_request, response) => void response.end("here"))
      assert.strictEqual((yield* fetchOn(client, {})).body.toString(), "here")
      yield* Effect.promise(() =>
        world.admin("POST", "/internal/tunnel/access-policy", {
          headers: { "x-ct-routing-token": T },
          body: { expires_at: 1 }
        })
      )
      const closed = yield* fetchOn(client, {})
      assert.strictEqual(closed.status, 503)
      assert.strictEqual(closed.headers["retry-after"], "3600")
      yield* Effect.promise(() => world.admin("POST", `/admin/revoke/${T}`))
      assert.strictEqual((yield* fetchOn(client, {})).status, 421)
    }).pipe(Effect.scoped)
  )

  it.live("that takes a request back ends it at the origin, and the others go on", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorise(T, HOST, "gelb"))
      let closed = 0
      yield* origin(world, (request, response) => {
        if (request.url === "/ok") return void response.end("ok")
        response.on("close", () => {
          closed += 1
        })
        return void response.write("begun")
      })
      const client = yield* session(world)
      const stream = client.request({ ":path": "/slow" })
      yield* Effect.promise(() => new Promise((resolve) => stream.once("data", resolve)))
      stream.close(8)
      yield* Effect.promise(() => eventually(() => closed === 1, "the origin sees the end"))
      assert.strictEqual((yield* fetchOn(client, { ":path": "/ok" })).body.toString(), "ok")
    }).pipe(Effect.scoped)
  )
})
