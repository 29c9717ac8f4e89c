/** A service for each kind of origin: TLS of several makers, a socket of the file system, and ones that refuse unknown names. */
import { mintPair } from "@catenet/testing/edge/TestEdge"
import * as Daemon from "@catenet/testing/server/Daemon"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { type EventEmitter, once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { createSecureServer, type ServerHttp2Stream } from "node:http2"
import { createServer as createSecureHttp1 } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WebSocketServer } from "ws"
import { freePort } from "../../src/Ports.ts"
import { skipped } from "../interop/GoPrograms.ts"
import * as BothTiers from "./BothTiers.ts"

const pair = mintPair(["localhost"])
const stranger = mintPair(["localhost"])
/** Of a service to which visitors' own TLS is passed. */
export const passed = mintPair(["localhost", "passed-own.zone.test"])

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

const listening = <S extends EventEmitter & { readonly listen: unknown; readonly close: () => unknown }>(
  server: S,
  path?: string
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      ;(server as unknown as Server).listen(path === undefined ? { port: 0, host: "127.0.0.1" } : { path })
      await once(server, "listening")
      return server
    }),
    () => Effect.sync(() => void server.close())
  )

const portOf = (server: Pick<Server, "address">) => (server.address() as AddressInfo).port

const runs = (program: string, ...args: ReadonlyArray<string>) => spawnSync(program, args).status === 0

type Program = (port: number, folder: string, cert: string, key: string) => Omit<Daemon.Daemon, "folder" | "endedBy">

const programs: Readonly<Record<string, { readonly isThere: boolean; readonly start: Program }>> = {
  nginx: {
    isThere: runs("/usr/sbin/nginx", "-v"),
    start: (port, folder, cert, key) => {
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; pid ${folder}/pid; error_log stderr notice; events {}
         http { access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
         server { listen 127.0.0.1:${port} ssl http2; ssl_certificate ${cert}; ssl_certificate_key ${key};
         location / { return 200 "$host:$server_port $server_protocol $http_x_forwarded_for"; } } }`
      )
      return {
        program: "/usr/sbin/nginx",
        args: ["-p", folder, "-c", join(folder, "nginx.conf")],
        isReady: (line) => line.includes("start worker processes")
      }
    }
  },
  go: {
    isThere: runs("go", "version"),
    start: (port, folder, cert, key) => {
      const binary = join(folder, "origin")
      const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GO111MODULE: "off" }
      spawnSync("go", ["build", "-o", binary, join(import.meta.dirname, "secureOrigin.go")], { env })
      return { program: binary, args: [String(port), cert, key], isReady: (line) => line === "ready" }
    }
  },
  python: {
    isThere: runs("python3", "--version"),
    start: (port, _folder, cert, key) => ({
      program: "python3",
      args: [join(import.meta.dirname, "secureOrigin.py"), String(port), cert, key],
      isReady: (line) => line === "ready"
    })
  },
  hypercorn: {
    isThere: runs("hypercorn", "--help"),
    start: (port, _folder, cert, key) => ({
      program: "hypercorn",
      args: [
        "--bind",
        `127.0.0.1:${port}`,
        "--certfile",
        cert,
        "--keyfile",
        key,
        join(import.meta.dirname, "asgiOrigin.py:app")
      ],
      isReady: (line) => line.includes("Running on")
    })
  }
}

export interface Kind {
  readonly to: string
  readonly options?: string
  /** The Host that the origin sees of a visitor of this one, and the version. */
  readonly sees: (host: string) => string
  /** What it answers, if not that. */
  readonly says?: string
  readonly http: "1.1" | "2.0"
  readonly sockets: boolean
}

const started = Effect.fnUntraced(function* (name: string, cert: string, key: string) {
  const port = yield* freePort("127.0.0.1")
  const folder = mkdtempSync(join(tmpdir(), "catenet-origin-"))
  const program = programs[name]?.start(port, folder, cert, key)
  assert.isDefined(program)
  yield* Daemon.start({ ...program, folder, endedBy: "SIGTERM" })
  return port
})

export const kindsIn = Effect.fnUntraced(function* (folder: string) {
  const file = (name: string, contents: string) => {
    writeFileSync(join(folder, name), contents)
    return join(folder, name)
  }
  const ca = file("ca.pem", pair.root)
  const [cert, key] = [file("cert.pem", pair.cert), file("key.pem", pair.key)]
  const http1 = yield* listening(createSecureHttp1({ cert: pair.cert, key: pair.key }, described))
  withSockets(http1)
  const both = createSecureServer(
    { cert: pair.cert, key: pair.key, allowHTTP1: true, settings: { enableConnectProtocol: true } },
    described as never
  )
  both.on("connect", ({ headers }: IncomingMessage, { stream }: { readonly stream: ServerHttp2Stream }) => {
    stream.respond({ ":status": 200 })
    const socket = BothTiers.framesOf(stream, true)
    socket.on("message", (data) => socket.send(`${String(headers[":authority"])} ${String(data)}`))
  })
  yield* listening(both)
  const without = createSecureServer({ cert: pair.cert, key: pair.key, allowHTTP1: true }, described as never)
  withSockets(without as never)
  yield* listening(without)
  const unknown = yield* listening(createSecureHttp1({ cert: stranger.cert, key: stranger.key }, described))
  withSockets(unknown)
  const socket = join(folder, "app.sock")
  withSockets(yield* listening(createServer(described), socket))
  const local = yield* listening(createServer(localOnly))
  withSockets(local)
  const foreign: Array<[string, Kind]> = []
  for (const [name, { isThere }] of Object.entries(programs)) {
    if (!isThere) skipped(`${name} with TLS as an origin`, "it is not on this machine")
    else {
      const to = `https://localhost:${yield* started(name, cert, key)}`
      const sees = (host: string) => (name === "nginx" ? `${host}:${to.split(":")[2]}` : host)
      const http = name === "python" ? "1.1" : "2.0"
      foreign.push([name, { to, options: `ca: ${ca}`, sees, http, sockets: name === "hypercorn" }])
    }
  }
  file("index.html", "<p>a folder</p>")
  const kinds: Record<string, Kind> = {
    files: { to: "file:.", sees: () => "", says: "<p>a folder</p>", sockets: false, http: "1.1" },
    http1: {
      to: `https://localhost:${portOf(http1)}`,
      options: `ca: ca.pem`,
      sees: (host) => host,
      http: "1.1",
      sockets: true
    },
    http2: {
      to: `https://localhost:${portOf(both)}`,
      options: `ca: ${ca}`,
      sees: (host) => host,
      http: "2.0",
      sockets: true
    },
    unconnected: {
      to: `https://localhost:${portOf(without)}`,
      options: `ca: ${ca}`,
      sees: (host) => host,
      http: "2.0",
      sockets: true
    },
    insecure: {
      to: `https://127.0.0.1:${portOf(unknown)}`,
      options: "insecure: true",
      sees: (host) => host,
      http: "1.1",
      sockets: true
    },
    unix: { to: `unix:${socket}`, sees: (host) => host, http: "1.1", sockets: true },
    vite: {
      to: String(portOf(local)),
      options: "host_header: origin",
      sees: () => `localhost:${portOf(local)}`,
      http: "1.1",
      sockets: true
    },
    named: {
      to: `unix:${socket}`,
      options: "host_header: app.internal",
      sees: () => "app.internal",
      http: "1.1",
      sockets: true
    },
    ...Object.fromEntries(foreign)
  }
  const passing = yield* listening(createSecureServer({ ...passed, allowHTTP1: true }, described as never))
  return { kinds, unknown: portOf(unknown), passing: { port: portOf(passing), ca: file("passed.pem", passed.root) } }
})
