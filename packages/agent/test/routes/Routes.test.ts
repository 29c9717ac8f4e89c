/**
 * A service with routes: which origin gets a request, what becomes of one that no origin takes, and what an echo finds.
 * One file, since all cases speak with the same kind of origins over the same connections.
 */
import { eventually } from "@catenet/testing/Eventually"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { Agent, createServer, request, type RequestListener } from "node:http"
import { type AddressInfo, createServer as createTcp, type Socket } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"
import { tap } from "../../src/inspect/OriginTap.ts"
import { Recording } from "../../src/inspect/Recording.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as Routes from "../../src/routes/Routes.ts"
import type { RouteSettings } from "../../src/settings/Settings.ts"
import { plainOrigin } from "../harness/Origins.ts"

const host = "shop.example"

const listening = (serve: RequestListener | ((socket: Socket) => void), isHttp = true, at = 0) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = isHttp ? createServer(serve as RequestListener) : createTcp(serve as (socket: Socket) => void)
      const sockets = new Set<Socket>()
      server.on("connection", (socket: Socket) => {
        sockets.add(socket)
        socket.on("error", () => undefined)
      })
      server.listen(at, "127.0.0.1")
      await once(server, "listening")
      const close = () => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
      return { port: (server.address() as AddressInfo).port, sockets, close, server }
    }),
    ({ close }) => Effect.sync(close)
  )

/** Says which origin it is and what it was asked. */
const named =
  (name: string): RequestListener =>
  (asked, response) => {
    let bytes = 0
    asked.on("data", (chunk: Buffer) => (bytes += chunk.length))
    asked.on("end", () => response.end(`${name} ${asked.method} ${asked.url} ${bytes}`))
  }

const route = (path: string, ports: ReadonlyArray<number>, more: Partial<RouteSettings> = {}): RouteSettings => ({
  path,
  stripPrefix: undefined,
  origins: ports.map((port) => plainOrigin(port)),
  health: undefined,
  ...more
})

const open = Effect.fnUntraced(function* (routes: ReadonlyArray<RouteSettings>) {
  const origin = yield* Routes.open(routes, plainOrigin(1), host).pipe(
    Effect.orDie,
    Effect.provide([AgentMetrics.layer, NodeFileSystem.layer])
  )
  const connection = () => Effect.runSync(Effect.orDie(origin.connect()))
  /** A visitor with one connection. */
  const visitor = () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    agent.createConnection = connection
    const ask = (path: string, body?: string, fields: Readonly<Record<string, string>> = {}) =>
      new Promise<{ status: number; fields: Readonly<Record<string, unknown>>; text: string }>((resolve, reject) => {
        const asked = request({
          agent,
          host,
          path,
          method: body === undefined ? "GET" : "POST",
          headers: fields
        })
        asked.on("error", reject)
        asked.on("response", (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.on("error", reject)
          response.on("end", () => resolve({ status: response.statusCode ?? 0, fields: response.headers, text }))
        })
        asked.end(body)
      })
    const said = async (...given: Parameters<typeof ask>) => (await ask(...given)).text
    return { ask, said }
  }
  const look = origin.look?.pipe(Effect.provide(AgentMetrics.layer)) ?? Effect.die("no look")
  return { connection, visitor, look, name: origin.name }
})

/** All that comes on a connection on which this is written, until it ends or `isEnough`. */
const answered = (connection: Socket, text: string, isEnough: (all: string) => boolean = () => false) =>
  new Promise<string>((resolve) => {
    let all = ""
    connection.on("data", (chunk: Buffer) => {
      all += chunk.toString("latin1")
      if (isEnough(all)) resolve(all)
    })
    for (const event of ["end", "close"]) connection.once(event, () => resolve(all))
    connection.write(text)
  })

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

describe("a service with routes", () => {
  it.live("sends each request of a connection to the first route that fits its path, without the prefix", () =>
    Effect.gen(function* () {
      const [v1, exact, rest] = yield* Effect.all(["v1", "exact", "rest"].map((name) => listening(named(name))))
      const { name, visitor } = yield* open([
        route("/v1*", [v1?.port ?? 0], { stripPrefix: "/v1" }),
        route("/only", [exact?.port ?? 0]),
        route("/*", [rest?.port ?? 0])
      ])
      assert.match(name, /^127\.0\.0\.1:\d+\+2$/u)
      const { said } = visitor()
      for (const [path, wanted] of [
        ["/v1/a?b=/v1", "v1 GET /a?b=/v1 0"],
        ["/v1", "v1 GET / 0"],
        ["/v1?x", "v1 GET /?x 0"],
        ["/v1//other.example/a", "v1 GET /other.example/a 0"],
        ["/v10/a", "v1 GET /v10/a 0"],
        ["/only", "exact GET /only 0"],
        ["/only/more", "rest GET /only/more 0"],
        ["/v1/z", "v1 GET /z 0"]
      ] as const)
        assert.strictEqual(yield* Effect.promise(() => said(path)), wanted)
      const body = "x".repeat(300_000)
      assert.strictEqual(yield* Effect.promise(() => said("/v1/up", body)), "v1 POST /up 300000")
      const chunked = { "transfer-encoding": "chunked" }
      assert.strictEqual(yield* Effect.promise(() => said("/only", body, chunked)), "exact POST /only 300000")
      for (const origin of [v1, exact, rest]) assert.strictEqual(origin?.sockets.size, 1, "connections are kept")
    }).pipe(Effect.scoped)
  )

  it.live("answers requests that come at once in their order", () =>
    Effect.gen(function* () {
      const slow = yield* listening((asked, response) => void setImmediate(() => response.end(`slow ${asked.url}`)))
      const fast = yield* listening((asked, response) => response.end(`fast ${asked.url}`))
      const { connection } = yield* open([route("/slow*", [slow.port]), route("/*", [fast.port])])
      const body = "POST /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
      const all = yield* Effect.promise(() =>
        answered(connection(), `${get("/slow1")}${get("/2")}${body}${get("/slow4")}`, (said) => said.includes("slow4"))
      )
      assert.deepStrictEqual(all.match(/(?:slow|fast) \/(?:slow)?\d/gu), [
        "slow /slow1",
        "fast /2",
        "fast /3",
        "slow /slow4"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("gives a request to the origin that has the fewest", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      const counts = [0, 0]
      const origins = yield* Effect.forEach([0, 1], (n) =>
        listening((_asked, response) => {
          counts[n] = (counts[n] ?? 0) + 1
          if (n === 0 && waiting.length < 1) waiting.push(() => response.end("late"))
          else response.end("at once")
        })
      )
      const { visitor } = yield* open([
        route(
          "/*",
          origins.map(({ port }) => port)
        )
      ])
      const held = visitor().said("/")
      yield* Effect.promise(() => eventually(() => waiting.length === 1, "one origin is busy"))
      for (let n = 0; n < 6; n++) assert.strictEqual(yield* Effect.promise(() => visitor().said("/")), "at once")
      assert.deepStrictEqual(counts, [1, 6])
      waiting[0]?.()
      assert.strictEqual(yield* Effect.promise(() => held), "late")
      const { said } = visitor()
      for (let n = 0; n < 6; n++) yield* Effect.promise(() => said("/"))
      assert.isAbove(counts[0] ?? 0, 1, "the other one takes its turns again")
    }).pipe(Effect.scoped)
  )

  it.effect("takes out an origin after three failures, and answers 503 with Retry-After when none is left", () =>
    Effect.gen(function* () {
      const [gone, port] = [yield* freePort("127.0.0.1"), yield* freePort("127.0.0.1")]
      const origin = yield* listening(named("up"), true, port)
      const { look, visitor } = yield* open([route("/*", [gone, port])])
      const { said } = visitor()
      for (let n = 0; n < 8; n++) assert.strictEqual(yield* Effect.promise(() => said("/", "body")), "up POST / 4")
      assert.deepStrictEqual(yield* look, { verdict: "up" })
      origin.close()
      for (let n = 0; n < 3; n++) yield* Effect.promise(() => visitor().ask("/"))
      const refused = yield* Effect.promise(() => visitor().ask("/", undefined, { accept: "text/html" }))
      assert.strictEqual(refused.status, 503)
      assert.strictEqual(refused.fields["retry-after"], "10")
      assert.include(refused.text, "does not answer")
      assert.deepStrictEqual(yield* look, { verdict: "refused", origin: `127.0.0.1:${gone}` })
      yield* listening(named("back"), true, port)
      assert.strictEqual((yield* Effect.promise(() => visitor().ask("/"))).status, 503)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Effect.promise(() => visitor().said("/")), "back GET / 0")
    }).pipe(Effect.scoped)
  )

  it.effect("takes back an origin at once that an echo finds", () =>
    Effect.gen(function* () {
      const port = yield* freePort("127.0.0.1")
      const { look, visitor } = yield* open([route("/*", [port])])
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* Effect.promise(() => visitor().ask("/"))).status, 503)
      yield* listening(named("up"), true, port)
      assert.strictEqual((yield* Effect.promise(() => visitor().ask("/"))).status, 503)
      assert.deepStrictEqual(yield* look, { verdict: "up" })
      assert.strictEqual((yield* Effect.promise(() => visitor().ask("/"))).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("follows health checks: an answer from 200 to 399 is healthy", () =>
    Effect.gen(function* () {
      let status = 204
      let checks = 0
      const origin = yield* listening((asked, response) => {
        if (asked.url !== "/healthz") return response.end("served")
        checks += 1
        return response.writeHead(status).end()
      })
      const health = { path: "/healthz", everyMillis: 10_000 }
      const { look, visitor } = yield* open([route("/*", [origin.port], { health })])
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      // In steps: nobody sees from outside whether the agent waits for an answer or for the next check.
      const statusIs = (wanted: number) =>
        Effect.promise(() =>
          eventually(async () => {
            await run(TestClock.adjust("1 second"))
            return (await visitor().ask("/")).status === wanted
          }, `${wanted}`)
        )
      yield* Effect.promise(() => eventually(() => checks === 1, "the first check"))
      assert.strictEqual(yield* Effect.promise(() => visitor().said("/")), "served")
      status = 500
      yield* statusIs(503)
      assert.strictEqual((yield* look).verdict, "closed")
      status = 399
      yield* statusIs(200)
      assert.deepStrictEqual(yield* look, { verdict: "up" })
    }).pipe(Effect.scoped)
  )

  it.live("asks again for what changes nothing when a kept connection has broken, and for nothing else", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const origin = yield* listening((socket: Socket) => {
        let isFirst = true
        socket.on("data", (chunk: Buffer) => {
          asked.push(chunk.toString().split(" ")[0] ?? "")
          if (!isFirst) return socket.destroy()
          isFirst = false
          return socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        })
      }, false)
      const { visitor } = yield* open([route("/*", [origin.port])])
      const { said } = visitor()
      assert.strictEqual(yield* Effect.promise(() => said("/")), "ok")
      assert.strictEqual(yield* Effect.promise(() => said("/")), "ok")
      const failure = yield* Effect.promise(() =>
        said("/", "once").then(
          () => "answered",
          () => "broken"
        )
      )
      assert.strictEqual(failure, "broken")
      assert.deepStrictEqual(asked, ["GET", "GET", "GET", "POST"])
    }).pipe(Effect.scoped)
  )

  it.live("carries what follows an upgrade in both directions, to the end of each", () =>
    Effect.gen(function* () {
      const origin = yield* listening(named("x"))
      origin.server.on("upgrade", (_asked, socket: Socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        socket.on("data", (chunk: Buffer) => socket.write(chunk))
        socket.on("end", () => socket.end("bye"))
      })
      const { connection } = yield* open([route("/*", [origin.port])])
      const client = connection()
      const asking = "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
      const all = answered(client, `${asking}GET / first bytes`)
      yield* Effect.promise(() => once(client, "data"))
      client.write("; more")
      client.end()
      assert.match(yield* Effect.promise(() => all), /\r\n\r\nGET \/ first bytes; morebye$/u)
    }).pipe(Effect.scoped)
  )

  it.live("passes on an answer that comes before the body, and one that ends with its connection", () =>
    Effect.gen(function* () {
      const origin = yield* listening((socket: Socket) => {
        socket.once("data", (chunk: Buffer) => {
          if (chunk.toString().startsWith("GET /torn"))
            return socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", () => socket.resetAndDestroy())
          return socket.end(
            chunk.toString().startsWith("GET")
              ? "HTTP/1.1 200 OK\r\n\r\nwithout a length"
              : "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
          )
        })
      }, false)
      const { connection, visitor } = yield* open([route("/*", [origin.port])])
      assert.match(yield* Effect.promise(() => answered(connection(), get("/"))), /without a length$/u)
      const upload = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n${"x".repeat(100_000)}`
      assert.match(yield* Effect.promise(() => answered(connection(), upload)), /^HTTP\/1\.1 413 /u)
      const torn = yield* Effect.promise(() =>
        visitor()
          .said("/torn")
          .then(
            () => "whole",
            () => "torn"
          )
      )
      assert.strictEqual(torn, "torn")
    }).pipe(Effect.scoped)
  )

  it.live("keeps at most eight idle connections to origins for one client, those used last", () =>
    Effect.gen(function* () {
      const origins = yield* Effect.forEach([..."012345678"], (name) => listening(named(name)))
      const { visitor } = yield* open(origins.map(({ port }, n) => route(`/${n}`, [port])))
      const { said } = visitor()
      const kept = () =>
        origins.map(({ sockets }) => [...sockets].filter(({ destroyed }) => !destroyed).length).join("")
      for (const n of "01234567") yield* Effect.promise(() => said(`/${n}`))
      assert.strictEqual(kept(), "111111110")
      yield* Effect.promise(() => said("/8"))
      yield* Effect.promise(() => eventually(() => kept() === "011111111", "the oldest is closed"))
    }).pipe(Effect.scoped)
  )

  it.live("shows an inspector each request once, in whatever pieces it is written", () =>
    Effect.gen(function* () {
      const origins = yield* Effect.all(["a", "b"].map((name) => listening(named(name))))
      const { connection } = yield* open([
        route("/a", [origins[0]?.port ?? 0]),
        route("/*", [origins[1]?.port ?? 0], { stripPrefix: "/b" })
      ])
      const recording = new Recording()
      const faults: Array<unknown> = []
      const client = connection()
      const visit = { client: undefined, host, tls: "edge", http: "1.1", connectMillis: 0 } as const
      tap(client, recording, { ...visit, dial: Effect.fail(new Error("no replay")) }, (error) => faults.push(error))
      client.cork()
      for (const piece of ["POST /a HTTP/1.1\r\nHost: x\r\nContent-", "Length: 5\r\n\r\nhe", "llo"]) client.write(piece)
      client.uncork()
      yield* Effect.promise(() => answered(client, get("/b/x"), (said) => said.includes("b GET")))
      const seen = () =>
        recording
          .list()
          .map(({ requestBody, requestHead, responseBody }) => [
            requestHead.toString().split(" HTTP")[0],
            requestBody.bytes().toString(),
            responseBody.bytes().toString()
          ])
      const whole = [
        ["GET /b/x", "", "b GET /x 0"],
        ["POST /a", "hello", "a POST /a 5"]
      ]
      yield* Effect.promise(() => eventually(() => JSON.stringify(seen()) === JSON.stringify(whole), "both requests"))
      assert.deepStrictEqual(faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses paths without a route, and what is not HTTP/1.1", () =>
    Effect.gen(function* () {
      const origin = yield* listening(named("x"))
      const { connection } = yield* open([route("/a", [origin.port])])
      for (const [text, status] of [
        [get("/b"), 404],
        ["SSH-2.0-x\r\n", 400],
        ["\x16\x03\x01", 400],
        ["GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
        [`POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
        [`GET /a${"a".repeat(70_000)}`, 400]
      ] as const) {
        const answer = yield* Effect.promise(() => answered(connection(), text))
        assert.include(answer, `HTTP/1.1 ${status} `, text.slice(0, 40))
      }
    }).pipe(Effect.scoped)
  )
})
