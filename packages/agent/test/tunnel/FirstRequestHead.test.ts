import { maxHead } from "@catenet/proxy/internal/http1/RequestHead"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { connect as connectHttp2 } from "node:http2"
import { type Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as FirstRequestHead from "../../src/tunnel/FirstRequestHead.ts"
import { type Origin, startOrigin } from "../harness/Origins.ts"
import * as TerminatingPort from "../harness/TerminatingPort.ts"

const head = `GET / HTTP/1.1\r\nHost: ${TerminatingPort.host}\r\n\r\n`
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
const bounds = {
  ...FirstRequestHead.usualBounds,
  headMillis: 700,
  silentMillis: 100,
  pace: { firstMillis: 150, laterMillis: 200 }
}
/** One who is read at intervals is not read again within his time. */
const longRests = { ...bounds, headMillis: 3_000, pace: { firstMillis: 60_000, laterMillis: 60_000 } }

type Tls = (from?: string, alpn?: ReadonlyArray<string>) => TLSSocket

/** A request that is not answered. */
const slow = head.replace("/", "/slow")

const said = (socket: TLSSocket, text: string) => {
  socket.write(text)
  return socket
}

const askedHttp2 = (socket: TLSSocket) => {
  const client = connectHttp2(`https://${TerminatingPort.host}`, { createConnection: () => socket })
  client
    .on("error", () => {})
    .request({ ":path": "/slow" })
    .on("error", () => {})
    .resume()
  return socket
}

/** Answers each head. */
const web = (socket: Socket) => void socket.on("data", (chunk) => chunk.includes("\r\n\r\n") && socket.write(ok))

/** A port behind which the agent ends TLS. */
const door = Effect.fnUntraced(function* (origin: Origin, within: FirstRequestHead.Bounds = bounds) {
  const { tls } = yield* TerminatingPort.open(origin.port, within)
  const visitors = new Set<Socket>()
  yield* Effect.addFinalizer(() => Effect.sync(() => visitors.forEach((socket) => socket.destroy())))
  return (said: string | Buffer) => {
    const socket = tls()
    visitors.add(socket)
    socket.on("error", () => {})
    const heard: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => heard.push(chunk))
    socket.write(said)
    const closed = new Promise((resolve) => void socket.once("close", resolve))
    return { socket, heard: () => Buffer.concat(heard).toString(), closed: Effect.promise(() => closed) }
  }
})

const origin = (serve: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(() => startOrigin(serve)),
    (origin) => Effect.promise(() => origin[Symbol.asyncDispose]())
  )

const heard = (visit: { readonly heard: () => string }, text: string) =>
  Effect.promise(() => eventually(() => visit.heard().includes(text), `the visitor hears ${text}`))

describe("a visitor of a tunnel whose agent ends TLS", () => {
  it.live("with half a request head reaches no origin, and is answered 408; others are served meanwhile", () =>
    Effect.gen(function* () {
      const service = yield* origin(web)
      const visit = yield* door(service)
      const flood = Array.from({ length: 50 }, () => visit(head.slice(0, -2)))
      const slow = visit(head.slice(0, 5))
      const whole = visit(head)
      yield* heard(whole, "hi")
      assert.strictEqual(service.connections(), 1)
      slow.socket.write(head.slice(5))
      yield* heard(slow, "hi")
      assert.strictEqual(service.connections(), 2)
      for (const { closed, heard } of flood) {
        yield* closed
        assert.match(heard(), /^HTTP\/1\.1 408 /)
      }
      assert.strictEqual(service.connections(), 2)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live.each<readonly [string, (tls: Tls) => TLSSocket]>([
    ["over HTTP/1.1", (tls) => said(tls(), slow)],
    ["over HTTP/2", (tls) => askedHttp2(tls("127.0.0.1", ["h2"]))],
    ["in another protocol", (tls) => said(tls(), "\0 another protocol")],
    ["in silence", (tls) => tls()]
  ])("%s leaves room for those of another address", ([, flood]) =>
    Effect.gen(function* () {
      let open = 0
      const service = yield* origin((socket) => {
        open += 1
        socket.once("close", () => (open -= 1))
        socket.on("data", (chunk) => void (chunk.includes("GET / ") && socket.write(ok)))
      })
      const { tls } = yield* TerminatingPort.open(service.port, { ...bounds, headMillis: 20_000, visits: 4 })
      const closed = new Set<Socket>()
      const one = Effect.acquireRelease(
        Effect.sync(() => {
          const socket = flood(tls)
          return socket
            .on("error", () => {})
            .on("close", () => closed.add(socket))
            .resume()
        }),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const first = yield* Effect.all([one, one, one, one])
      yield* Effect.promise(() => eventually(() => open === 4, "four have a place"))
      const more = yield* one
      yield* Effect.promise(() => eventually(() => closed.has(more), "the fifth is refused"))
      assert.deepStrictEqual([closed.size, open], [1, 4])
      const other = said(tls("127.0.0.2"), head)
      const [answer] = yield* Effect.promise(() => once(other, "data"))
      assert.include(String(answer), "hi")
      yield* Effect.promise(() => eventually(() => closed.size === 2, "one of the first address gives way"))
      assert.lengthOf(
        first.filter((socket) => closed.has(socket)),
        1
      )
      other.destroy()
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("is refused with a head that is longer than any, and served with one of that length", () =>
    Effect.gen(function* () {
      const service = yield* origin(web)
      const visit = yield* door(service)
      const long = (bytes: number) => `${head.slice(0, -4)}\r\nX: ${"x".repeat(bytes - head.length - 1)}\r\n\r\n`
      assert.lengthOf(long(100), 104)
      yield* heard(visit(long(maxHead)), "hi")
      const refused = visit(long(maxHead + 1))
      yield* refused.closed
      assert.match(refused.heard(), /^HTTP\/1\.1 431 /)
      assert.strictEqual(service.connections(), 1)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("who is silent hears an origin that speaks first, and is closed where neither speaks", () =>
    Effect.gen(function* () {
      const chatty = yield* door(yield* origin((socket) => void socket.write("220 ready")))
      yield* heard(chatty(""), "220 ready")
      const service = yield* origin(web)
      const visit = yield* door(service)
      const silent = visit("")
      const late = visit("")
      yield* Effect.promise(() => eventually(() => service.connections() === 2, "the origin was dialled"))
      // After its silence its head is bounded all the same.
      late.socket.write(head.slice(0, 5))
      yield* silent.closed
      yield* late.closed
      assert.strictEqual(silent.heard(), "")
      assert.match(late.heard(), /^HTTP\/1\.1 408 /)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("whose head comes a byte at a time is read at intervals, and answered; others are served meanwhile", () =>
    Effect.gen(function* () {
      const visit = yield* door(yield* origin(web), { ...bounds, headMillis: 5_000 })
      const slow = visit("")
      const from = performance.now()
      for (const byte of head) {
        slow.socket.write(byte)
        yield* Effect.sleep(4)
      }
      yield* heard(visit(head), "hi")
      yield* heard(slow, "hi")
      assert.isAtLeast(performance.now() - from, bounds.pace.firstMillis)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("may send its head in five small pieces, and not in many more; large ones do not count", () =>
    Effect.gen(function* () {
      const service = yield* origin(web)
      const visit = yield* door(service, longRests)
      const inPieces = Effect.fnUntraced(function* (pieces: ReadonlyArray<string>) {
        const visitor = visit("")
        for (const piece of pieces) {
          if (visitor.socket.destroyed) break
          visitor.socket.write(piece)
          yield* Effect.sleep(20)
        }
        return visitor
      })
      const crumbs = ["GET / ", "HTTP/1.1", "\r\nHost: ", TerminatingPort.host]
      yield* heard(yield* inPieces([...crumbs, "\r\n\r\n"]), "hi")
      const line = `\r\nX: ${"x".repeat(300)}`
      yield* heard(yield* inPieces([...crumbs, line, line, line, "\r\n\r\n"]), "hi")
      const more = Array.from({ length: 16 }, (_, n) => `\r\nX-${n}: a`)
      const refused = yield* inPieces([...crumbs, ...more, "\r\n\r\n"])
      yield* refused.closed
      assert.match(refused.heard(), /^HTTP\/1\.1 408 /)
      assert.strictEqual(service.connections(), 2)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("that sends crumbs for ever is answered 408 in time", () =>
    Effect.gen(function* () {
      const service = yield* origin(web)
      const visit = yield* door(service)
      const from = performance.now()
      const flood = Array.from({ length: 20 }, () => visit("GET / HTTP/1.1\r\nX: "))
      const ended = new Set<(typeof flood)[number]>()
      for (const each of flood) each.socket.once("close", () => ended.add(each))
      while (ended.size < flood.length && performance.now() - from < 10_000) {
        for (const each of flood) if (!ended.has(each)) each.socket.write("x")
        yield* Effect.sleep(1)
      }
      for (const { heard } of flood) assert.match(heard(), /^HTTP\/1\.1 408 /)
      assert.strictEqual(service.connections(), 0)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("who comes while the agent drains is answered, and then told to go", () =>
    Effect.gen(function* () {
      const visit = yield* door(yield* origin(web))
      const { draining } = yield* AgentMetrics
      draining.is = true
      for (let visits = 0; visits < 5; visits++) {
        const visitor = visit(head)
        yield* visitor.closed
        assert.match(visitor.heard(), /^HTTP\/1\.1 200 OK\r\n[^]*hi$/u)
      }
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("who speaks another language is the origin's at once", () =>
    Effect.gen(function* () {
      const visit = yield* door(yield* origin((socket) => void socket.pipe(socket)))
      for (const said of ["over tls", "\x00\x01", "EHLO there\r\n", "PING\r\n"]) yield* heard(visit(said), said)
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live("cannot have an origin that is more lenient read a request in what is no HTTP to the proxy", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const service = yield* origin((socket) => void socket.on("data", (chunk: Buffer) => told.push(chunk.toString())))
      const visit = yield* door(service)
      const spoofed = " / HTTP/1.1\r\nHost: hello.example\r\nX-Gate-Email: root@victim.example\r\n\r\n"
      for (const [first, rest] of [
        [`get${spoofed}`, ""],
        ["get", spoofed],
        ["get / HT", spoofed.slice(5)],
        ["\t get", spoofed]
      ] as const) {
        const visitor = visit(first)
        yield* Effect.sleep(20)
        visitor.socket.write(rest)
        yield* visitor.closed
      }
      assert.notInclude(told.join(""), "victim")
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )
})

describe("the first bytes of a client", () => {
  const cases: ReadonlyArray<readonly [said: string, judged: string]> = [
    ["", "undecided"],
    ["GET", "undecided"],
    ["\r\n\r\nGET / HTTP/1.1\r\n", "undecided"],
    ["GET  /  HTTP/1.1 \r\nA: b\r\n", "undecided"],
    ["GET / HTTP/1.1\n\n", "whole"],
    [head, "whole"],
    ["GET /\r\n", "other"],
    ["GET / FTP/1.1", "other"],
    ["get / HTTP/1.1", "other"],
    [`${"A".repeat(33)} /`, "other"],
    ["\x16\x03\x01", "other"]
  ]
  for (const [said, judged] of cases)
    it(`${JSON.stringify(said)} is ${judged}, in whatever pieces it comes`, () => {
      assert.strictEqual(new FirstRequestHead.RequestHeadReader().push(Buffer.from(said)), judged)
      const reader = new FirstRequestHead.RequestHeadReader()
      const last = Array.from(Buffer.from(said), (byte) => reader.push(Buffer.of(byte))).find(
        (each) => each !== "undecided"
      )
      assert.strictEqual(last ?? "undecided", judged)
    })
})
