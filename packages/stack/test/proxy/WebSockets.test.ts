/** WebSockets over HTTP/1.1 and over HTTP/2 (RFC 8441), at the edge and at the agent: the origin meets the same upgrade. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import type { ClientHttp2Stream } from "node:http2"
import type { AddressInfo } from "node:net"
import { chromium } from "playwright-core"
import { WebSocket, WebSocketServer } from "ws"
import * as BothTiers from "./BothTiers.ts"
import type { Tier } from "./BothTiers.ts"

class Place extends Context.Service<
  Place,
  {
    readonly tiers: readonly [edge: Tier, own: Tier]
    readonly heard: Array<IncomingMessage>
    /** How the origin's side of each socket ended. */
    readonly ends: Array<string>
  }
>()("stack/test/proxy/WebSockets/Place") {
  static readonly layer = Layer.effect(
    Place,
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
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => (sockets.close(), server.closeAllConnections(), void server.close()))
      )
      return { tiers: yield* BothTiers.make((server.address() as AddressInfo).port), heard, ends }
    })
  )
}

const opening = (tier: Tier, path: string) => ({
  ":method": "CONNECT",
  ":protocol": "websocket",
  ":scheme": "https",
  ":authority": tier.host,
  ":path": path,
  origin: `https://${tier.host}`,
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
const overHttp2 = Effect.fnUntraced(function* (tier: Tier, path: string) {
  const session = yield* BothTiers.dialHttp2(tier)
  yield* Effect.promise(async () => {
    if (session.remoteSettings?.enableConnectProtocol !== true) await once(session, "remoteSettings")
  })
  const stream = session.request(opening(tier, path), { endStream: false })
  stream.on("error", () => undefined)
  const [fields] = (yield* Effect.promise(() => once(stream, "response"))) as [Readonly<Record<string, unknown>>]
  return { fields, stream, session }
})

const framesOf = (stream: ClientHttp2Stream) => BothTiers.framesOf(stream, false)

const described = (request: IncomingMessage | undefined, { host }: Tier) =>
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

layer(Place.layer, { excludeTestServices: true, timeout: "120 seconds" })("a WebSocket", (it) => {
  it.effect("passes four ways, and the origin meets the same upgrade", () =>
    Effect.gen(function* () {
      const { ends, heard, tiers } = yield* Place
      for (const tier of tiers) {
        const { fields, stream } = yield* overHttp2(tier, "/echo")
        assert.deepInclude(fields, { ":status": 200, "sec-websocket-protocol": "chat" })
        for (const name of ["upgrade", "connection", "sec-websocket-accept"]) assert.notProperty(fields, name)
        const inHttp2 = framesOf(stream)
        yield* echoes(inHttp2)
        const first = described(heard.at(-1), tier)
        inHttp2.close(1000)
        yield* Effect.promise(() => BothTiers.eventually(() => ends.length > 0, "the origin hears the close"))
        assert.strictEqual(ends.pop(), "/echo 1000")

        const socket = new WebSocket(`wss://${tier.host}:${tier.port}/echo`, "chat", {
          ca: tier.ca,
          lookup: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }] as never),
          perMessageDeflate: false,
          headers: { host: tier.host, origin: `https://${tier.host}` }
        })
        yield* Effect.promise(() => once(socket, "open"))
        yield* echoes(socket)
        assert.deepStrictEqual(described(heard.at(-1), tier), first)
        socket.close(1000)
        yield* Effect.promise(() => BothTiers.eventually(() => ends.length > 0, "the origin hears the close"))
        assert.strictEqual(ends.pop(), "/echo 1000")
      }
    }).pipe(Effect.scoped)
  )

  it.effect.skipIf(executablePath === undefined)(
    "that a page opens in Chromium goes over the page's HTTP/2 connection",
    () =>
      Effect.gen(function* () {
        const { ends, tiers } = yield* Place
        const browser = yield* Effect.acquireRelease(
          Effect.promise(() =>
            chromium.launch({
              ...(executablePath === undefined ? {} : { executablePath }),
              args: ["--no-sandbox", "--disable-gpu", `--host-resolver-rules=MAP *.zone.test 127.0.0.1`]
            })
          ),
          (running) => Effect.promise(() => running.close())
        )
        for (const tier of tiers) {
          const context = yield* Effect.promise(() => browser.newContext({ ignoreHTTPSErrors: true }))
          const page = yield* Effect.promise(() => context.newPage())
          yield* Effect.promise(() => page.goto(`https://${tier.host}:${tier.port}/`))
          const cdp = yield* Effect.promise(() => context.newCDPSession(page))
          const statuses: Array<number> = []
          cdp.on("Network.webSocketHandshakeResponseReceived", ({ response }) => statuses.push(response.status))
          yield* Effect.promise(() => cdp.send("Network.enable"))
          const said = yield* Effect.promise(() => page.evaluate(fromPage))
          assert.strictEqual(said, "from a page", tier.name)
          yield* Effect.promise(() => BothTiers.eventually(() => statuses.length > 0, "the handshake is reported"))
          assert.deepStrictEqual(statuses, [200], "101 would be an upgrade of HTTP/1.1")
          yield* Effect.promise(() => BothTiers.eventually(() => ends.length > 0, "the origin hears the close"))
          assert.strictEqual(ends.pop(), "/echo 1000")
        }
      }).pipe(Effect.scoped)
  )

  it.effect("over HTTP/2 that the visitor resets is cut at the origin, and one that ends there is ended here", () =>
    Effect.gen(function* () {
      const { ends, tiers } = yield* Place
      for (const tier of tiers) {
        const { stream } = yield* overHttp2(tier, "/reset")
        stream.close(8)
        yield* Effect.promise(() => BothTiers.eventually(() => ends.length > 0, "the origin hears of the reset"))
        assert.strictEqual(ends.pop(), "/reset 1006")
      }
    }).pipe(Effect.scoped)
  )

  it.effect(
    "over HTTP/2 that the origin refuses is refused in its words, and one it accepts without proof is not opened",
    () =>
      Effect.gen(function* () {
        const { tiers } = yield* Place
        for (const tier of tiers)
          for (const [path, status] of [
            ["/refused", 403],
            ["/liar", 502]
          ] as const) {
            const { fields, session } = yield* overHttp2(tier, path)
            assert.strictEqual(fields[":status"], status, `${tier.name} ${path}`)
            const plain = session.request({ ":path": "/", ":authority": tier.host })
            const [answer] = (yield* Effect.promise(() => once(plain, "response"))) as [
              Readonly<Record<string, unknown>>
            ]
            assert.strictEqual(answer[":status"], 200, "other requests of the connection go on")
            plain.resume()
          }
      }).pipe(Effect.scoped)
  )

  it.effect("is the only protocol that CONNECT carries", () =>
    Effect.gen(function* () {
      const { tiers } = yield* Place
      for (const tier of tiers) {
        const session = yield* BothTiers.dialHttp2(tier)
        yield* Effect.promise(async () => {
          if (session.remoteSettings?.enableConnectProtocol !== true) await once(session, "remoteSettings")
        })
        const stream = session.request({ ...opening(tier, "/echo"), ":protocol": "connect-udp" }, { endStream: false })
        const [fields] = (yield* Effect.promise(() => once(stream, "response"))) as [Readonly<Record<string, unknown>>]
        assert.strictEqual(fields[":status"], 405, tier.name)
        stream.on("error", () => undefined).close()
      }
    }).pipe(Effect.scoped)
  )
})
