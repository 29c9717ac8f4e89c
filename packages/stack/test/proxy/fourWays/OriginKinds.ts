/** A service for each kind of origin: TLS of several makers, a socket of the file system, and ones that refuse unknown names. */
import { http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { mintPair, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import {
  createServer,
  type IncomingMessage,
  request as requestHttp1,
  type RequestListener,
  type Server
} from "node:http"
import { createSecureServer, type ServerHttp2Stream } from "node:http2"
import { createServer as createSecureHttp1 } from "node:https"
import { createServer as createTcpServer, type Socket } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { WebSocket, WebSocketServer } from "ws"
import * as Ways from "../Ways.ts"
import type { Path, Way } from "../Ways.ts"
import { Foreign } from "./ForeignOrigins.ts"
import { pair } from "./ForeignPrograms.ts"

const stranger = mintPair(["localhost"])
/** Of a service to which visitors' own TLS is passed. */
const passed = mintPair(["localhost", "passed-own.zone.test"])

/** What the origin was asked, and by which version. */
const described: RequestListener = (request, response) => {
  const { headers, httpVersion } = request
  response.end(`${headers.host ?? headers[":authority" as "host"]} HTTP/${httpVersion} ${headers["x-forwarded-for"]}`)
}

/** As Vite does for names that `server.allowedHosts` does not list. */
const localOnly: RequestListener = (request, response) => {
  if (/^localhost:\d+$/u.test(String(request.headers.host))) return described(request, response)
  return response.writeHead(403).end(`Blocked request. This host (${request.headers.host}) is not allowed.`)
}

/**
 * Speaks HTTP/2 by prior knowledge, answers one request on each connection and then ends its side without a word. Knows
 * those that the other side keeps then.
 */
const curt = () => {
  const kept = new Set<Socket>()
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    let said = Buffer.alloc(0)
    let at = 24
    socket.on("error", () => undefined).on("end", () => kept.delete(socket))
    socket.write(http2Frame(4, 0, 0, Buffer.alloc(0)))
    socket.on("data", (chunk: Buffer) => {
      said = Buffer.concat([said, chunk])
      for (; said.length >= at + 9; at += 9 + said.readUIntBE(at, 3)) {
        const [type, flags] = [said[at + 3], said[at + 4]]
        if (type === 4 && flags === 0) socket.write(http2Frame(4, 1, 0, Buffer.alloc(0)))
        if (type === 1) kept.add(socket.end(http2Frame(1, 5, said.readUInt32BE(at + 5), Buffer.of(0x88))))
      }
    })
  })
  return { server, kept }
}

/** Echoes what a WebSocket sends, with the Host of its handshake before. */
const withSockets = (server: Pick<Server, "on">) => {
  const sockets = new WebSocketServer({ noServer: true })
  server.on("upgrade", (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (each) => {
      each.on("error", () => undefined)
      each.on("message", (data) => each.send(`${request.headers.host} ${String(data)}`))
    })
  )
}

interface Kind {
  readonly to: string
  readonly options?: string
  /** The Host that the origin sees, if it is not the visitor's. */
  readonly sees?: string
  /** Where it says what it saw. */
  readonly target?: string
  /** What it answers, if not that. */
  readonly says?: string
  readonly http?: "1.1" | "2.0"
  readonly hasSockets?: boolean
}

/** A service of each kind, in a folder where the file of services is. */
export class Kinds extends Context.Service<
  Kinds,
  {
    readonly folder: string
    readonly kinds: Readonly<Record<string, Kind>>
    /** Connections that the agent keeps to an origin that has ended its side of each. */
    readonly left: () => number
    readonly services: Readonly<Record<string, Ways.Service>>
  }
>()("stack/test/proxy/fourWays/Kinds") {
  static readonly layer = Layer.effect(
    Kinds,
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = (name: string, contents: string) => {
        writeFileSync(join(folder, name), contents)
        return join(folder, name)
      }
      const ca = `ca: ${file("ca.pem", pair.root)}`
      const http1 = yield* Ways.listening(createSecureHttp1({ cert: pair.cert, key: pair.key }, described))
      const both = createSecureServer(
        { cert: pair.cert, key: pair.key, allowHTTP1: true, settings: { enableConnectProtocol: true } },
        described as never
      )
      both.on("connect", ({ headers }: IncomingMessage, { stream }: { readonly stream: ServerHttp2Stream }) => {
        stream.respond({ ":status": 200 })
        const socket = Ways.framesOf(stream, true)
        socket.on("message", (data) => socket.send(`${String(headers[":authority"])} ${String(data)}`))
      })
      yield* Ways.listening(both)
      const without = yield* Ways.listening(
        createSecureServer({ cert: pair.cert, key: pair.key, allowHTTP1: true }, described as never)
      )
      const unknown = yield* Ways.listening(createSecureHttp1({ cert: stranger.cert, key: stranger.key }, described))
      const ending = curt()
      yield* Ways.listening(ending.server)
      const socket = join(folder, "app.sock")
      const unix = yield* Ways.listening(createServer(described), socket)
      const local = yield* Ways.listening(createServer(localOnly))
      for (const server of [http1, without as never, unknown, unix, local]) withSockets(server)
      file("index.html", "<p>a folder</p>")
      const addressed = (server: Pick<Server, "address">) => `https://localhost:${Ways.portOf(server)}`
      const foreign = (yield* Foreign).map(
        ({ name, tls, tlsVersion }) =>
          [name, { to: `https://localhost:${tls}`, options: ca, target: "seen", http: tlsVersion }] as const
      )
      const kinds: Record<string, Kind> = {
        files: { to: "file:.", says: "<p>a folder</p>" },
        http1: { to: addressed(http1), options: "ca: ca.pem", hasSockets: true },
        http2: { to: addressed(both), options: ca, http: "2.0", hasSockets: true },
        unconnected: { to: addressed(without), options: ca, http: "2.0", hasSockets: true },
        insecure: { to: `https://127.0.0.1:${Ways.portOf(unknown)}`, options: "insecure: true", hasSockets: true },
        unix: { to: `unix:${socket}`, hasSockets: true },
        vite: {
          to: String(Ways.portOf(local)),
          options: "host_header: origin",
          sees: `localhost:${Ways.portOf(local)}`,
          hasSockets: true
        },
        named: { to: `unix:${socket}`, options: "host_header: app.internal", sees: "app.internal", hasSockets: true },
        ...Object.fromEntries(foreign)
      }
      const passing = yield* Ways.listening(createSecureServer({ ...passed, allowHTTP1: true }, described as never))
      const routes = Object.entries(kinds).map(([kind, { options = "host_header: keep", to }]) => {
        const own = /^\d+$/u.test(to) ? `http://localhost:${to}` : to
        return `  - { path: /${kind}/*, strip_prefix: /${kind}, to: ["${own}"], ${options} }`
      })
      const services: Record<string, Ways.Service> = {
        ...Object.fromEntries(
          Object.entries(kinds).map(([kind, { options, to }]) => [
            kind,
            { to, options: options === undefined ? [] : [options] }
          ])
        ),
        routed: { options: ["routes:", ...routes] },
        curt: { to: `h2c://127.0.0.1:${Ways.portOf(ending.server)}` },
        distrusted: { to: addressed(unknown) },
        passed: { to: addressed(passing), options: [`ca: ${file("passed.pem", passed.root)}`], passed: passed.root }
      }
      return { folder, kinds, services, left: () => ending.kept.size }
    })
  )
}

/** What the origin says, twice: on one connection one after the other, or in two streams at once. */
const askTwice = (path: Path, way: Way, target = "/") => ask(path, way, target, 2)

const ask = ({ version }: Path, way: Way, target = "/", times = 1) =>
  version === "1.1"
    ? Effect.flatMap(Ways.dial(way, "http/1.1"), (socket) =>
        Effect.promise(async () => {
          const said: Array<string> = []
          for (let n = 0; n < times; n++) {
            const headers = { host: way.host, connection: "keep-alive" }
            const asked = requestHttp1({ createConnection: () => socket, path: target, headers }).end()
            const [response] = (await once(asked, "response")) as [IncomingMessage]
            said.push(`${response.statusCode} ${await text(response)}`)
          }
          return said
        })
      )
    : Effect.flatMap(Ways.dialHttp2(way), (session) =>
        Effect.promise(() =>
          Promise.all(
            Array.from({ length: times }, async () => {
              const stream = session.request({ ":path": target, ":authority": way.host })
              const [fields] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>]
              return `${String(fields[":status"])} ${await text(stream)}`
            })
          )
        )
      )

const answerOf = ({ http = "1.1", says, sees }: Kind, { host }: Way) =>
  `200 ${says ?? `${sees ?? host} HTTP/${http} 127.0.0.1`}`

export const cases = (path: Path) => ({
  "is answered by an origin of each kind, in the version that the origin chose": Effect.gen(function* () {
    const { wayTo } = yield* Ways.Services
    for (const [name, kind] of Object.entries((yield* Kinds).kinds)) {
      const wanted = answerOf(kind, wayTo(name, path))
      assert.deepStrictEqual(yield* askTwice(path, wayTo(name, path), `/${kind.target ?? ""}`), [wanted, wanted], name)
    }
  }),

  "is served by an origin over HTTP/2 that ends its connections without a word": Effect.gen(function* () {
    const { left } = yield* Kinds
    const way = (yield* Ways.Services).wayTo("curt", path)
    for (let n = 0; n < 3; n++) {
      assert.deepStrictEqual(yield* ask(path, way), ["200 "], `${n}`)
      yield* Effect.promise(() => Ways.eventually(() => left() === 0, "the agent has closed the connection"))
    }
  }),

  "is answered by an origin of each kind that has a route of its own at one service": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("routed", path)
    for (const [name, kind] of Object.entries((yield* Kinds).kinds)) {
      const wanted = answerOf(kind, way)
      assert.deepStrictEqual(yield* askTwice(path, way, `/${name}/${kind.target ?? ""}`), [wanted, wanted], name)
    }
    assert.match((yield* ask(path, way, "/unknown"))[0] ?? "", /^404 /u)
  }),

  ...(path.version === "1.1" && {
    "opens WebSockets at an origin of each kind that takes them": Effect.gen(function* () {
      for (const [name, { hasSockets, sees }] of Object.entries((yield* Kinds).kinds)) {
        if (hasSockets !== true) continue
        const way = (yield* Ways.Services).wayTo(name, path)
        const socket = new WebSocket(`wss://${way.host}:${way.port}/echo`, {
          ca: way.ca,
          lookup: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }] as never),
          headers: { host: way.host }
        })
        yield* Effect.promise(() => once(socket, "open"))
        for (const word of ["one", "two"]) {
          const answer = once(socket, "message")
          socket.send(word)
          const [data] = (yield* Effect.promise(() => answer)) as [Buffer]
          assert.strictEqual(String(data), `${sees ?? way.host} ${word}`, name)
        }
        socket.close()
      }
    })
  }),

  "has its own TLS passed to an origin that asks for that, if it is end-to-end": Effect.gen(function* () {
    const said = yield* askTwice(path, (yield* Ways.Services).wayTo("passed", path))
    const version = { "1.1": "1.1", "2": "2.0" }[path.version]
    const answer =
      path.tier === "edge"
        ? "200 passed-edge.zone.test HTTP/2.0 127.0.0.1"
        : `200 passed-own.zone.test HTTP/${version} undefined`
    assert.deepStrictEqual(said, [answer, answer])
  }),

  "gets 502 where the origin's certificate is from an unknown authority, and the log says what to do": Effect.gen(
    function* () {
      const { logged, status, wayTo } = yield* Ways.Services
      assert.match((yield* ask(path, wayTo("distrusted", path)))[0] ?? "", /^502 /u)
      for (const line of [
        /origin https:\/\/localhost:\d+: .*certificate.*Name the authority.*CT_AGENT_ORIGIN_INSECURE=1/u,
        /accepts any certificate of https:\/\/127.0.0.1:/u
      ])
        yield* Effect.promise(() => Ways.eventually(() => logged.some((each) => line.test(each)), String(line)))
      const report = yield* Effect.promise(async () => (await fetch(status)).text())
      assert.match(
        report,
        /"name":"insecure-own"(?:(?!"name").)*"origin":"https:\/\/127.0.0.1:\d+ \(any certificate\)"/u
      )
    }
  )
})
