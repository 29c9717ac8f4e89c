/** CT_AGENT_CARD_FILE: the agent answers the well-known path of its card itself, by every way that a visitor may take. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { once } from "node:events"
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttp } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { Agent, request } from "node:https"
import { type AddressInfo, connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { connect as connectTls } from "node:tls"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as AgentCardResponder from "../../src/tunnel/AgentCardResponder.ts"
import * as FirstRequestHead from "../../src/tunnel/FirstRequestHead.ts"
import * as TerminatingPort from "../harness/TerminatingPort.ts"

const { host } = TerminatingPort
const well = "/.well-known/agent-card.json"
const card = '{"holder_pubkey":"00"}'
const bounds = { ...FirstRequestHead.usualBounds, silentMillis: 100 }

/** Says what it was asked for, and keeps its connections open as long as it may. */
const origin = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createHttp((request, response) => {
      void text(request).then((body) => response.end(`origin ${request.method} ${request.url} ${body}`))
    })
    server.on("upgrade", (request, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: ${request.headers.connection}\r\nupgrade: echo\r\n\r\n`
      )
      socket.pipe(socket)
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
)

/** An agent that ends TLS at a port, and answers with a card of a file. */
const door = Effect.gen(function* () {
  const service = yield* origin
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "card-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true }))
  )
  const file = join(folder, "agent-card.json")
  const answering = yield* AgentCardResponder.make(file)
  const address = (service.address() as AddressInfo).port
  const { authority, port, tls } = yield* TerminatingPort.open(address, bounds, answering)
  /** What the agent answers to these bytes, over TLS or as an edge sends them that ends it. */
  const say = (said: string, isPlain = false) =>
    Effect.promise(() => {
      const socket = isPlain ? connect(port, "127.0.0.1") : tls()
      socket.on("error", () => {})
      socket.write(said)
      return text(socket)
    })
  const write = (contents: string | Uint8Array) => {
    writeFileSync(`${file}.new`, contents)
    renameSync(`${file}.new`, file)
  }
  return { authority, port, say, tls, write }
})

const get = (path: string, method = "GET", more = "") => `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
/** That a card is not there yet is no news here. */
const quietly = Effect.provideService(References.MinimumLogLevel, "None")
const layers = Layer.mergeAll(NodeFileSystem.layer, AgentMetrics.layer)

describe("CT_AGENT_CARD_FILE", () => {
  it.live("answers the card's path and no other, over TLS and where the edge ends TLS", () =>
    Effect.gen(function* () {
      const { say, write } = yield* door
      const none = yield* say(get(well))
      assert.match(none, /^HTTP\/1\.1 503 .*This agent has no card at the moment\.\n$/su)
      write(card)
      const whole =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\naccess-control-allow-origin: *\r\ncache-control: max-age=60\r\n" +
        `x-content-type-options: nosniff\r\ncontent-length: ${card.length}\r\nconnection: close\r\n\r\n`
      /** Names of fields may be spelled in another way. */
      const spelled = (answer: string) => answer.replaceAll(/^[\w-]+:/gmu, (name) => name.toLowerCase())
      for (const isPlain of [false, true]) {
        for (const path of [well, `${well}?v=1`, `http://${host}${well}`, `https://${host}:8443${well}`])
          assert.strictEqual(spelled(yield* say(get(path), isPlain)), `${whole}${card}`, path)
        assert.strictEqual(spelled(yield* say(get(well, "HEAD"), isPlain)), whole)
        assert.match(yield* say(get(well, "POST"), isPlain), /^HTTP\/1\.1 405 .*\r\nallow: GET, HEAD\r\n/su)
        for (const path of ["/", `${well}x`, `${well}/`, `/x${well}`, "/.well-known/%61gent-card.json"])
          assert.match(
            yield* say(get(path, "GET", "Connection: close\r\n"), isPlain),
            new RegExp(`\\r\\n\\r\\n.*origin GET ${path} `, "su"),
            path
          )
        const sent = get("/rpc", "POST", "Content-Length: 5\r\nConnection: close\r\n")
        assert.include(yield* say(`${sent}hello`, isPlain), "origin POST /rpc hello")
      }
      write("another")
      assert.include(yield* say(get(well)), "\r\n\r\nanother")
      write(Buffer.alloc(1_048_576, "x"))
      assert.include(yield* say(get(well)), "HTTP/1.1 200 OK")
      write(Buffer.alloc(1_048_577, "x"))
      assert.include(yield* say(get(well)), "HTTP/1.1 503 Service Unavailable")
    }).pipe(Effect.scoped, Effect.provide(layers), quietly)
  )

  it.live("answers a client that keeps its connections, before and after it asked the origin", () =>
    Effect.gen(function* () {
      const { authority, port, write } = yield* door
      write(card)
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const at = { agent, host: "127.0.0.1", port, servername: host, ca: authority.pem }
      const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
        Effect.promise(
          () =>
            new Promise<string>((resolve, reject) => {
              const asked = request({ ...at, path, headers: { host, ...headers } }, (answer) => resolve(text(answer)))
              asked.on("error", reject).end()
            })
        )
      for (const path of ["/a", well, "/b", well, well, "/c"])
        assert.strictEqual(yield* ask(path), path === well ? card : `origin GET ${path} `)
      assert.strictEqual(yield* ask("/t", { connection: "keep-alive, te", te: "trailers" }), "origin GET /t ")
    }).pipe(Effect.scoped, Effect.provide(layers), quietly)
  )

  it.live("leaves a client that asks for another protocol to the origin", () =>
    Effect.gen(function* () {
      const { tls, write } = yield* door
      write(card)
      const socket = tls()
      socket.write(get("/ws", "GET", "Connection: Upgrade\r\nUpgrade: echo\r\n"))
      yield* Effect.promise(() => once(socket, "data"))
      socket.write("over it")
      const [heard] = yield* Effect.promise(() => once(socket, "data"))
      assert.strictEqual(String(heard), "over it")
      socket.destroy()
    }).pipe(Effect.scoped, Effect.provide(layers), quietly)
  )

  it.live("answers requests of HTTP/2 beside those of the origin", () =>
    Effect.gen(function* () {
      const { authority, port, write } = yield* door
      write(card)
      const session = connectHttp2(`https://${host}`, {
        createConnection: () =>
          connectTls({
            socket: connect(port, "127.0.0.1"),
            servername: host,
            ca: authority.pem,
            ALPNProtocols: ["h2"]
          })
      })
      const ask = (path: string, method = "GET") =>
        Effect.promise(async () => {
          const stream = session.request({ ":path": path, ":method": method })
          const [headers] = (await once(stream, "response")) as [Record<string, unknown>]
          return [headers[":status"], headers["content-length"], await text(stream)]
        })
      const all = yield* Effect.all([ask(well), ask("/a"), ask(well, "HEAD"), ask(well, "PUT")], {
        concurrency: "unbounded"
      })
      const [shown, others, head, put] = all
      assert.deepStrictEqual(shown, [200, String(card.length), card])
      assert.strictEqual(others?.[2], "origin GET /a ")
      assert.deepStrictEqual(head, [200, String(card.length), ""])
      assert.strictEqual(put?.[0], 405)
      session.destroy()
    }).pipe(Effect.scoped, Effect.provide(layers), quietly)
  )
})
