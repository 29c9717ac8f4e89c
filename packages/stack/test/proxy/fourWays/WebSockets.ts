/** WebSockets over HTTP/1.1 and over HTTP/2 (RFC 8441). */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import type { ClientHttp2Stream } from "node:http2"
import { chromium } from "playwright-core"
import { WebSocket, WebSocketServer } from "ws"
import * as Ways from "../Ways.ts"
import type { Path, Way } from "../Ways.ts"

/** Echoes what WebSockets say. */
export class Echo extends Context.Service<
  Echo,
  {
    readonly port: number
    readonly heard: Array<IncomingMessage>
    /** How the origin's side of each socket ended. */
    readonly ends: Array<string>
  }
>()("stack/test/proxy/fourWays/Echo") {
  static readonly layer = Layer.effect(
    Echo,
    Effect.gen(function* () {
      const heard: Array<IncomingMessage> = []
      const ends: Array<string> = []
      const server = createServer((_, response) => response.end("ok"))
      const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false })
      server.on("upgrade", (request, socket, head) => {
        heard.push(request)
        if (request.url === "/refused") return void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        if (request.url === "/liar")
          return void socket.end(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
          )
        sockets.handleUpgrade(request, socket, head, (each) => {
          each.on("message", (data, isBinary) => each.send(data, { binary: isBinary }))
          each.on("error", () => undefined)
          each.once("close", (code) => ends.push(`${request.url} ${code}`))
        })
      })
      yield* Ways.listening(server)
      yield* Effect.addFinalizer(() => Effect.sync(() => sockets.close()))
      return { port: Ways.portOf(server), heard, ends }
    })
  )
}

const opening = (way: Way, target: string) => ({
  ":method": "CONNECT",
  ":scheme": "https",
  ":authority": way.host,
  ":path": target,
  origin: `https://${way.host}`,
  "sec-websocket-version": "13",
  "sec-websocket-protocol": "chat"
})

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))

const fromPage = `new Promise((resolve, reject) => {
  const socket = new WebSocket("wss://" + location.host + "/echo", "chat")
  socket.onopen = () => socket.send("from a page")
  socket.onmessage = ({ data }) => (resolve(data), socket.close(1000))
  socket.onerror = () => reject(new Error("refused"))
})`

/** A client of `ws` in a stream of HTTP/2: the client's own handshake is answered here, its frames go through. */
const overHttp2 = Effect.fnUntraced(function* (way: Way, target: string, protocol = "websocket") {
  const session = yield* Ways.dialHttp2(way)
  yield* Effect.promise(async () => {
    if (session.remoteSettings?.enableConnectProtocol !== true) await once(session, "remoteSettings")
  })
  const stream = session.request({ ...opening(way, target), ":protocol": protocol }, { endStream: false })
  stream.on("error", () => undefined)
  const [fields] = (yield* Effect.promise(() => once(stream, "response"))) as [Readonly<Record<string, unknown>>]
  return { fields, stream, session }
})

const framesOf = (stream: ClientHttp2Stream) => Ways.framesOf(stream, false)

const described = (request: IncomingMessage | undefined, { host }: Way) =>
  Object.entries(request?.headers ?? {})
    .filter(([name]) => name !== "sec-websocket-key" && name !== "x-request-id")
    .map(([name, value]) => `${name}: ${String(value).replaceAll(host, "HOST")}`)
    .toSorted()

const echoes = (socket: WebSocket) =>
  Effect.promise(async () => {
    for (const text of ["one", "x".repeat(300_000), ""]) {
      const answer = once(socket, "message")
      socket.send(text)
      const [data] = (await answer) as [Buffer]
      assert.strictEqual(String(data), text)
    }
    const bytes = once(socket, "message")
    socket.send(Buffer.from([0, 255]))
    assert.deepStrictEqual([...((await bytes) as [Buffer])[0]], [0, 255])
  })

const hears = Effect.fnUntraced(function* (end: string) {
  const { ends } = yield* Echo
  yield* Effect.promise(() => Ways.eventually(() => ends.length > 0, "the origin hears of the end"))
  assert.strictEqual(ends.pop(), end)
})

/** What the origin is told of an upgrade, for all of them. */
const told = [
  "connection: Upgrade",
  'forwarded: for=127.0.0.1;host="HOST";proto=https',
  "host: HOST",
  "origin: https://HOST",
  "sec-websocket-protocol: chat",
  "sec-websocket-version: 13",
  "upgrade: websocket",
  "x-forwarded-for: 127.0.0.1",
  "x-forwarded-host: HOST",
  "x-forwarded-port: 443",
  "x-forwarded-proto: https",
  "x-real-ip: 127.0.0.1"
]

/** An open one, of the version of HTTP of the path. */
const opened = Effect.fnUntraced(function* ({ version }: Path, way: Way) {
  if (version === "2") {
    const { fields, stream } = yield* overHttp2(way, "/echo")
    assert.deepInclude(fields, { ":status": 200, "sec-websocket-protocol": "chat" })
    for (const name of ["upgrade", "connection", "sec-websocket-accept"]) assert.notProperty(fields, name)
    return framesOf(stream)
  }
  const socket = new WebSocket(`wss://${way.host}:${way.port}/echo`, "chat", {
    ca: way.ca,
    lookup: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }] as never),
    perMessageDeflate: false,
    headers: { host: way.host, origin: `https://${way.host}` }
  })
  yield* Effect.promise(() => once(socket, "open"))
  return socket
})

export const cases = (path: Path) => ({
  "opens a WebSocket, and the origin meets the same upgrade": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("echo", path)
    const socket = yield* opened(path, way)
    yield* echoes(socket)
    assert.deepStrictEqual(described((yield* Echo).heard.at(-1), way), told)
    socket.close(1000)
    yield* hears("/echo 1000")
  }),

  ...(path.version === "2" && {
    ...(executablePath !== undefined && {
      "opens a WebSocket from a page in Chromium, over the page's HTTP/2 connection": Effect.gen(function* () {
        const way = (yield* Ways.Services).wayTo("echo", path)
        const browser = yield* Effect.acquireRelease(
          Effect.promise(() =>
            chromium.launch({
              executablePath,
              args: ["--no-sandbox", "--disable-gpu", `--host-resolver-rules=MAP *.zone.test 127.0.0.1`]
            })
          ),
          (running) => Effect.promise(() => running.close())
        )
        const statuses: Array<number> = []
        const said = yield* Effect.promise(async () => {
          const context = await browser.newContext({ ignoreHTTPSErrors: true })
          const page = await context.newPage()
          await page.goto(`https://${way.host}:${way.port}/`)
          const cdp = await context.newCDPSession(page)
          cdp.on("Network.webSocketHandshakeResponseReceived", ({ response }) => statuses.push(response.status))
          await cdp.send("Network.enable")
          return page.evaluate(fromPage)
        })
        assert.strictEqual(said, "from a page")
        yield* Effect.promise(() => Ways.eventually(() => statuses.length > 0, "the handshake is reported"))
        assert.deepStrictEqual(statuses, [200], "101 would be an upgrade of HTTP/1.1")
        yield* hears("/echo 1000")
      })
    }),

    "resets a WebSocket, which is cut at the origin": Effect.gen(function* () {
      const { stream } = yield* overHttp2((yield* Ways.Services).wayTo("echo", path), "/reset")
      stream.close(8)
      yield* hears("/reset 1006")
    }),

    "is refused a WebSocket in the origin's words, and gets none that the origin accepts without proof": Effect.gen(
      function* () {
        const way = (yield* Ways.Services).wayTo("echo", path)
        for (const [target, status] of [
          ["/refused", 403],
          ["/liar", 502]
        ] as const) {
          const { fields, session } = yield* overHttp2(way, target)
          assert.strictEqual(fields[":status"], status, target)
          const plain = session.request({ ":path": "/", ":authority": way.host })
          const [answer] = (yield* Effect.promise(() => once(plain, "response"))) as [Readonly<Record<string, unknown>>]
          assert.strictEqual(answer[":status"], 200, "other requests of the connection go on")
          plain.resume()
        }
      }
    ),

    "has no other protocol than WebSockets carried by CONNECT": Effect.gen(function* () {
      const way = (yield* Ways.Services).wayTo("echo", path)
      const { fields, stream } = yield* overHttp2(way, "/echo", "connect-udp")
      assert.strictEqual(fields[":status"], 405)
      stream.close()
    })
  })
})
