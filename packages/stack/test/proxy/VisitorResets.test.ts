/**
 * Visitors whose connection is reset at any moment, as phones that change networks and browsers that are closed do: neither the
 * edge nor the agent logs anything about it above debug.
 */
import { temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { createServer } from "node:http"
import { connect as connectTcp } from "node:net"
import { connect } from "node:tls"
import * as Ways from "./Ways.ts"
import { eventually, type Way } from "./Ways.ts"

class Place extends Context.Service<
  Place,
  { readonly services: Ways.Services["Service"]; readonly ofEdge: ReadonlyArray<string>; readonly asked: () => number }
>()("stack/test/proxy/VisitorResets") {
  static readonly layer = Layer.effect(
    Place,
    Effect.gen(function* () {
      let asked = 0
      const server = yield* Ways.listening(
        createServer((request, response) => {
          asked += 1
          request.on("error", () => undefined).resume()
          if (request.url === "/slow") return
          response.writeHead(200)
          const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(16_384)));
          }
          response.on("drain", more)
          more()
        })
      )
      const ofEdge: Array<string> = []
      const logger = Logger.map(Logger.formatLogFmt, (line) => void ofEdge.push(line))
      const services = yield* Ways.serve({ visited: { to: Ways.portOf(server) } }, yield* temporaryFolder, "Info").pipe(
        Effect.provide(Logger.layer([logger]))
      )
      return { services, ofEdge, asked: () => asked }
    })
  )
}

/** A visitor's TLS, and the TCP connection below it. */
const visit = ({ ca, host, port }: Way, alpn: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly tls: ReturnType<typeof connect>; readonly tcp: ReturnType<typeof connectTcp> }>(
      (resume) => {
        const tcp = connectTcp({ host: "127.0.0.1", port, noDelay: true }).on("error", () => undefined)
        const tls = connect({ socket: tcp, servername: host, ca, ALPNProtocols: [alpn] })
        tls.on("error", () => undefined).once("secureConnect", () => resume(Effect.succeed({ tls, tcp })))
      }
    ),
    ({ tcp }) => Effect.sync(() => tcp.destroy())
  )

const connection = ({ host, port }: Way) =>
  Effect.callback<ReturnType<typeof connectTcp>>((resume) => {
    const tcp = connectTcp({ host: "127.0.0.1", port, noDelay: true }, () => resume(Effect.succeed(tcp)))
    tcp.on("error", () => assert.fail(host))
  })

layer(Place.layer, { timeout: 120_000, excludeTestServices: true })("a visitor whose connection is reset", (it) => {
  it.effect("leaves no line above debug at the edge and at the agent, whatever it had begun", () =>
    Effect.gen(function* () {
      const { asked, ofEdge, services } = yield* Place
      for (const tier of ["edge", "own"] as const) {
        const way = services.wayTo("visited", { tier })
        const before = [ofEdge.length, services.logged.length] as const
        const head = (method: string, path: string, more = "") =>
          `${method} ${path} HTTP/1.1\r\nHost: ${way.host}\r\n${more}\r\n`
        const hello = yield* connection(way)
        hello.write(Buffer.from("1603010200010001fc0303", "hex"))
        yield* Effect.sleep("20 millis")
        hello.resetAndDestroy()
        for (const begun of [
          "",
          "GET / HT",
          head("GET", "/slow"),
          head("GET", "/endless"),
          head("POST", "/slow", "Content-Length: 1000000\r\n") + "x".repeat(50_000),
          head("GET", "/slow", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n")
        ])
          for (const reading of [true, false]) {
            const seen = asked()
            const { tcp, tls } = yield* visit(way, "http/1.1")
            if (reading) tls.resume()
            tls.write(begun)
            if (begun.endsWith("\r\n\r\n")) yield* Effect.promise(() => eventually(() => asked() > seen, begun))
            yield* Effect.sleep("20 millis")
            tcp.resetAndDestroy()
          }
        for (const [method, path, body] of [
          ["GET", "/slow", 0],
          ["GET", "/endless", 0],
          ["POST", "/slow", 200_000]
        ] as const)
          for (const how of ["connection", "stream", "paused"]) {
            const seen = asked()
            const { tcp, tls } = yield* visit(way, "h2")
            const client = yield* Ways.dialHttp2(way, tls)
            const streams = Array.from({ length: 4 }, () =>
              client.request({ ":method": method, ":path": path }).on("error", () => undefined)
            )
            for (const stream of streams) {
              if (body > 0) stream.write(Buffer.alloc(body))
              if (how !== "paused") stream.resume()
            }
            yield* Effect.promise(() => eventually(() => asked() >= seen + 4, `${method} ${path}`))
            yield* Effect.sleep("20 millis")
            if (how === "stream") for (const stream of streams) stream.close(8)
            else tcp.resetAndDestroy()
            yield* Effect.sleep("20 millis")
            client.destroy()
          }
        yield* Effect.sleep("500 millis")
        assert.deepStrictEqual(ofEdge.slice(before[0]), [], `the edge, ${tier}`)
        assert.deepStrictEqual(services.logged.slice(before[1]), [], `the agent, ${tier}`)
      }
    }).pipe(Effect.scoped)
  )
})
