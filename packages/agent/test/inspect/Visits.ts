/** Visits that an inspector sees: an origin with every kind of response, and clients in both tiers and every version. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, createServer as createPlainServer } from "node:net"
import { text } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { WebSocketServer } from "ws"
import * as InspectServer from "../../src/inspect/InspectServer.ts"
import { inspection } from "../../src/inspect/OriginTap.ts"
import { Recording } from "../../src/inspect/Recording.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as BrowserClients from "../../src/tunnel/BrowserClients.ts"
import { usualBounds } from "../../src/tunnel/FirstRequestHead.ts"
import * as OriginConnections from "../../src/tunnel/OriginConnections.ts"
import { plainOrigin } from "../harness/Origins.ts"
import * as TerminatingPort from "../harness/TerminatingPort.ts"

/** What a page or a terminal must not take for its own. */
export const hostile = `"><script>alert(1)</script>\u001b[2J\u202e`

const answers: Readonly<
  Record<string, (request: IncomingMessage, body: string) => readonly [object, string | Buffer]>
> = {
  "/json": (_, body) => [{ "content-type": "application/json" }, JSON.stringify({ got: body })],
  "/gzip": () => [{ "content-type": "text/plain", "content-encoding": "gzip" }, gzipSync("unpacked words")],
  "/secret": () => [{ "set-cookie": "sid=c00kie-value; HttpOnly", "content-type": "text/plain" }, "for you"],
  "/hostile": () => [{ "content-type": "text/html", "x-odd": "<b>&" }, `${hostile} and more`],
  "/binary": () => [{ "content-type": "image/png" }, Buffer.from([0x89, 0x50, 0, 1, 2, 3])],
  "/mcp": (_, body) => {
    const { id } = JSON.parse(body)
    const answer = { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "found it" }] } }
    return [{ "content-type": "text/event-stream" }, `event: message\ndata: ${JSON.stringify(answer)}\n\n`]
  }
}

const origin = Effect.gen(function* () {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url?.split("?")[0] ?? ""
      if (path === "/events") {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write("id: 7\nevent: tick\ndata: one\n\n")
        return void response.end("data: two\ndata: lines\n\n")
      }
      if (path === "/torn")
        return void response.writeHead(200, { "content-length": 10 }).write("half", () => response.destroy())
      const [fields, bytes] = answers[path]?.(request, body) ?? [{}, `${request.method} ${path}`]
      response.writeHead(path === "/missing" ? 404 : 200, { ...fields })
      response.end(bytes)
    })
  })
  const sockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } })
  sockets.on("connection", (socket) =>
    socket.on("message", (bytes, isBinary) => socket.send(bytes, { binary: isBinary }))
  )
  server.listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      sockets.close()
      server.close()
      server.closeAllConnections()
    })
  )
  return (server.address() as AddressInfo).port
})

/** A port whose connections are the streams of an edge that ends TLS itself. */
const behindEdge = Effect.fnUntraced(function* (port: number) {
  const settings = yield* OriginConnections.open(plainOrigin(port)).pipe(
    Effect.orDie,
    Effect.provide(NodeFileSystem.layer)
  )
  const handler = BrowserClients.make(settings, yield* AgentMetrics)
  const run = Effect.runForkWith(yield* Effect.context())
  const server = createPlainServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {})
    const client = { address: "192.0.2.7", port: 1 }
    run(handler(socket, { registration: 1, kind: "visitor", tls: "terminated", host: "gelb.example", client }))
  })
  server.listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
  return (server.address() as AddressInfo).port
})

/** Everything, until the scope closes. */
export const open = Effect.gen(function* () {
  const metrics = yield* AgentMetrics
  const recording = new Recording()
  metrics.inspection.current = inspection(recording, metrics.fault)
  const inspector = yield* InspectServer.open(recording, metrics.fault, 0)
  if (inspector === undefined) return yield* Effect.die("no port")
  const port = yield* origin
  const gelb = yield* behindEdge(port)
  const dead = yield* behindEdge(1)
  const gruen = yield* TerminatingPort.open(port, usualBounds)
  return { recording, inspector, gelb, dead, gruen, faults: metrics.faults }
}).pipe(Effect.provide(Layer.fresh(AgentMetrics.layer)))
