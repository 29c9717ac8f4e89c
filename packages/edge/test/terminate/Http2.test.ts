/**
 * Visitors that speak HTTP/2, against a real edge, agent and origin.
 * One file, since all cases are requests of one kind of visitor, by the same three helpers.
 */
import { type MuxAgent, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { http2, http2Fields, http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2"
import type { Duplex } from "node:stream"

const T = token("f")
const tunnelHost = "app.zone.test"

/** An agent in front of a real HTTP server. */
const origin = (world: TestEdge, listener: RequestListener) => {
  const server = createServer(listener)
  return servingAgent(world, T, [tunnelHost], (stream: Duplex) => void server.emit("connection", stream))
}

/** An agent that dies of its first visitor. */
const mortal = Effect.fnUntraced(function* (world: TestEdge) {
  const agent: MuxAgent = yield* servingAgent(world, T, [tunnelHost], () => agent.socket.destroy())
})

const session = (world: TestEdge) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, ["h2", "http/1.1"])
      assert.strictEqual(socket.alpnProtocol, "h2")
      return connect(`https://${tunnelHost}`, { createConnection: () => socket, maxSessionMemory: 100 })
    }),
    (client) => Effect.sync(() => client.destroy())
  )

const fetchOn = (client: ClientHttp2Session, headers: IncomingHttpHeaders, body?: Buffer) =>
  Effect.promise(
    () =>
      new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
        const stream = client.request(
          { ":path": "/", ":authority": tunnelHost, ...headers },
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

/** The code of the error that an answer breaks off with. */
const torn = (client: ClientHttp2Session, path: string) =>
  Effect.promise(
    () =>
      new Promise<string | undefined>((resolve) => {
        const stream = client.request({ ":path": path, ":authority": tunnelHost }).resume()
        stream.on("end", () => resolve(undefined))
        stream.on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
      })
  )

describe("a visitor that speaks HTTP/2", () => {
  it.live("is cut when it sent GOAWAY or broke the protocol and does not close", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* origin(world, () => undefined)
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, ["h2"]))
      const [session] = http2(tunnelHost)
      visitor.resume().write(Buffer.concat([session ?? Buffer.alloc(0), Buffer.from("no frame at all")]))
      const ended = new Promise((resolve) => visitor.once("end", resolve).once("close", resolve))
      yield* Effect.promise(() => ended)
    }).pipe(Effect.scoped)
  )

  it.live("reaches an HTTP/1.1 origin with the visitor's address in the forwarded fields", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
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
        host: tunnelHost,
        cookie: "x=1; y=2",
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "https",
        forwarded: `for=127.0.0.1;host="${tunnelHost}";proto=https`
      })
    }).pipe(Effect.scoped)
  )

  it.live("cannot ask for another host's path, nor set a forwarded field", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* origin(world, (request, response) => void response.end(JSON.stringify(request.headers)))
      const client = yield* session(world)
      /** A request that the protocol forbids never reaches the edge's own rules. */
      const statusOf = (headers: IncomingHttpHeaders) =>
        fetchOn(client, headers).pipe(
          Effect.map(({ status }) => status),
          Effect.catchDefect((error) =>
            Effect.succeed(String(error).includes("PROTOCOL_ERROR") ? "reset" : String(error))
          )
        )
      for (const path of ["http://evil.test/", "a", "/a#b", "*", "/\x85"])
        assert.include([400, "reset"], yield* statusOf({ ":path": path }), path)
      for (const host of ["other.zone.test", `x@${tunnelHost}`, `${tunnelHost}, evil`])
        assert.include([421, "reset"], yield* statusOf({ ":authority": host }), host)
      assert.strictEqual(yield* statusOf({ host: "other.zone.test" }), 421)
      const forged = { x_forwarded_for: "6", x_real_ip: "6", "x-forwarded-port": "6", content_length: "6", host_: "6" }
      const { body } = yield* fetchOn(client, forged)
      const seen = JSON.parse(body.toString())
      assert.strictEqual(seen.host_, "6")
      for (const name of ["x_forwarded_for", "x_real_ip", "content_length"]) assert.isUndefined(seen[name], name)
      assert.deepInclude(seen, { "x-forwarded-port": "443", "x-real-ip": "127.0.0.1" })
    }).pipe(Effect.scoped)
  )

  it.live("sends many requests at once over few streams to the agent, bodies whole", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
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

  it.live("gets 421 for another host, 502 without an agent, 503 outside the access window", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
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

  it.live("sends trailers that arrive while the login gate is asked", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.authorizations.push({
        token: T,
        hostname: tunnelHost,
        tier: "gelb",
        policy: null,
        require_login: true
      })
      const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>()
      controlPlane.visitor = promise
      const world = yield* start({}, { controlPlane })
      const heard: Array<unknown> = []
      yield* origin(world, (request, response) => {
        request.resume().on("end", () => {
          heard.push(request.trailers)
          response.end()
        })
      })
      const client = yield* session(world)
      const answered = Effect.promise(
        () =>
          new Promise<unknown>((resolve, reject) => {
            const stream = client.request(
              { ":path": "/", ":method": "POST", ":authority": tunnelHost, te: "trailers" },
              { waitForTrailers: true }
            )
            stream.on("wantTrailers", () => {
              stream.sendTrailers({ "x-count": "7", "x-gate-email": "boss@example.test", x_gate_email: "boss" })
              client.ping(() => setTimeout(letIn, 50))
            })
            stream.on("response", (answer) => resolve(answer[":status"])).on("error", reject)
            stream.resume().end("body")
          })
      )
      const letIn = () => resolve({ identity: "vera@example.test", expires_at: null, sign_in: null })
      assert.strictEqual(yield* answered, 200)
      assert.deepEqual(heard, [{ "x-count": "7" }])
    }).pipe(Effect.scoped)
  )

  it.live("sends trailers to the origin and gets the origin's", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* origin(world, (request, response) => {
        request.resume().on("end", () => {
          response.write(request.headers.te ?? "")
          response.addTrailers({ "x-sum": String(request.trailers["x-count"]), connection: "x" })
          response.end()
        })
      })
      const client = yield* session(world)
      const [body, trailers] = yield* Effect.promise(
        () =>
          new Promise<readonly [string, IncomingHttpHeaders]>((resolve, reject) => {
            const stream = client.request(
              { ":path": "/", ":method": "POST", ":authority": tunnelHost, te: "trailers" },
              { waitForTrailers: true }
            )
            let body = ""
            let trailers: IncomingHttpHeaders = {}
            stream.on("wantTrailers", () => stream.sendTrailers({ "x-count": "7", "x-forwarded-for": "6.6.6.6" }))
            stream.on("data", (chunk: Buffer) => {
              body += chunk.toString()
            })
            stream.on("trailers", (received) => {
              trailers = received
            })
            stream.on("end", () => resolve([body, trailers])).on("error", reject)
            stream.end("body")
          })
      )
      assert.strictEqual(body, "trailers")
      assert.deepStrictEqual(Object.entries(trailers), [["x-sum", "7"]])
    }).pipe(Effect.scoped)
  )

  it.live("sends trailers that arrive in one packet with the fields or the body", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const heard = new Map<string, unknown>()
      yield* origin(world, (request, response) => {
        let body = ""
        request.on("data", (chunk: Buffer) => (body += chunk.toString()))
        request.on("end", () => {
          heard.set(String(request.headers["x-case"]), { body, trailers: request.trailers })
          response.end()
        })
      })
      const field = (name: string, value: string) =>
        Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)])
      const head = (id: number, name: string) =>
        http2Frame(1, 4, id, Buffer.concat([http2Fields(0x83, tunnelHost), field("x-case", name)]))
      const data = (id: number, text: string) => http2Frame(0, 0, id, Buffer.from(text))
      const trailers = (id: number) => http2Frame(1, 5, id, field("x-count", String(id)))
      const preface = Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        http2Frame(4, 0, 0, Buffer.alloc(0))
      ])
      // Each is one write, and so one TLS record.
      const packets = [
        Buffer.concat([preface, head(1, "all"), data(1, "abc"), trailers(1)]),
        Buffer.concat([head(3, "no body"), trailers(3)]),
        head(5, "body and trailers"),
        Buffer.concat([data(5, "abc"), trailers(5)]),
        Buffer.concat([head(7, "trailers alone"), data(7, "abc")]),
        trailers(7),
        Buffer.concat([head(9, "two"), head(11, "others"), data(11, "b"), data(9, "a"), trailers(11), trailers(9)])
      ]
      const socket = yield* Effect.acquireRelease(
        Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, ["h2"])),
        (open) => Effect.sync(() => open.destroy())
      )
      socket.resume().setNoDelay(true)
      for (const packet of packets) {
        socket.write(packet)
        yield* Effect.sleep("30 millis")
      }
      yield* Effect.promise(() => eventually(() => heard.size === 6, "six requests at the origin"))
      assert.deepEqual(Object.fromEntries(heard), {
        all: { body: "abc", trailers: { "x-count": "1" } },
        "no body": { body: "", trailers: { "x-count": "3" } },
        "body and trailers": { body: "abc", trailers: { "x-count": "5" } },
        "trailers alone": { body: "abc", trailers: { "x-count": "7" } },
        two: { body: "a", trailers: { "x-count": "9" } },
        others: { body: "b", trailers: { "x-count": "11" } }
      })
    }).pipe(Effect.scoped)
  )

  it.live("cannot hide a second request in the body of one that has no length", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const asked: Array<string> = []
      yield* origin(world, (request, response) => {
        asked.push(`${request.method} ${request.url}`)
        request.pipe(response)
      })
      const client = yield* session(world)
      const hidden = Buffer.from(`GET /admin HTTP/1.1\r\nHost: ${tunnelHost}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`)
      for (const method of ["GET", "DELETE", "POST"]) {
        const { body } = yield* fetchOn(client, { ":method": method }, hidden)
        assert.deepStrictEqual(body, hidden)
      }
      assert.deepStrictEqual(asked, ["GET /", "DELETE /", "POST /"])
    }).pipe(Effect.scoped)
  )

  it.live("gets an answer when the origin's response has no form in HTTP/2", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* origin(world, (request, response) => {
        if (request.url === "/twice") response.setHeader("etag", ["a", "b"])
        if (request.url === "/odd") response.statusCode = 799
        if (request.url === "/broken") return void response.write("half", () => response.socket?.destroy())
        if (request.url !== "/trailer") return void response.end("said")
        response.write("whole")
        response.addTrailers({ "content-length": "9" })
        return void response.end()
      })
      const client = yield* session(world)
      assert.strictEqual((yield* fetchOn(client, { ":path": "/twice" })).body.toString(), "said")
      assert.strictEqual((yield* fetchOn(client, { ":path": "/odd" })).status, 502)
      assert.strictEqual((yield* fetchOn(client, { ":path": "/trailer" })).body.toString(), "whole")
      assert.strictEqual(yield* torn(client, "/broken"), "ERR_HTTP2_STREAM_ERROR")
      assert.strictEqual((yield* fetchOn(client, {})).body.toString(), "said")
    }).pipe(Effect.scoped)
  )

  it.live("asks the next agent when one dies before it answers, unless the request may change something", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* mortal(world)
      yield* origin(world, (_request, response) => void response.end("alive"))
      const client = yield* session(world)
      assert.strictEqual((yield* fetchOn(client, {})).body.toString(), "alive")
      yield* mortal(world)
      const changing = yield* session(world)
      const answers = yield* Effect.forEach(
        [1, 2],
        () => fetchOn(changing, { ":method": "POST" }, Buffer.from("once")),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 502])
    }).pipe(Effect.scoped)
  )

  it.live(
    "is given to another agent where the origin of one is down, once, and not for what may change something",
    () =>
      Effect.gen(function* () {
        const world = yield* start()
        yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
        const down = yield* servingAgent(world, T, [tunnelHost], (stream) => {
          stream.once("data", () => stream.reset("origin-unreachable"))
        })
        assert.strictEqual((yield* fetchOn(yield* session(world), {})).status, 502)
        assert.lengthOf(down.streams, 1)
        yield* origin(world, (_request, response) => void response.end("up"))
        const post = { ":method": "POST" }
        assert.strictEqual((yield* fetchOn(yield* session(world), post, Buffer.from("once"))).status, 502)
        assert.strictEqual((yield* fetchOn(yield* session(world), {})).body.toString(), "up")
        assert.lengthOf(down.streams, 3)
        const metrics = yield* Effect.promise(() => world.metrics())
        assert.strictEqual(metrics["ct_edge_failovers_total"], 1)
        assert.strictEqual(metrics["ct_edge_relays_total"], 3)
      }).pipe(Effect.scoped)
  )

  it.live(
    "that leaves while its request waits for an agent costs the agent that comes then nothing but a connection",
    () =>
      Effect.gen(function* () {
        const world = yield* start({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "60000" })
        yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
        const first = yield* servingAgent(world, T, [tunnelHost])
        first.mux.close("normal")
        yield* Effect.promise(() =>
          eventually(async () => (await world.metrics())["ct_edge_active_tunnels"] === 0, "the agent is gone")
        )
        const client = yield* session(world)
        client.request({ ":path": "/", ":authority": tunnelHost }).on("error", () => undefined)
        yield* Effect.promise(() => new Promise((resolve) => client.ping(() => resolve(undefined))))
        client.destroy()
        yield* Effect.promise(() =>
          eventually(async () => (await world.metrics())["ct_edge_connections"] === 0, "the visitor is gone")
        )
        const { socket } = yield* slotAgent(world, T, "B", tunnelHost)
        yield* Effect.promise(() => new Promise((resolve) => socket.once("close", resolve).resume()))
        yield* Effect.promise(() =>
          eventually(async () => (await world.metrics())["ct_edge_connections"] === 0, "nothing of it stays")
        )
      }).pipe(Effect.scoped)
  )

  it.live("that resets a request ends it at the origin, and other requests continue", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
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
      client.destroy()
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_active_relays"] === 0, "nothing of it stays")
      )
    }).pipe(Effect.scoped)
  )
})
