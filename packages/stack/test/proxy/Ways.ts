/**
 * The four ways of a visitor to an origin: TLS ends at an edge in this process or at an agent in a process of its own, and the visitor
 * speaks HTTP/1.1 or HTTP/2.
 */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { startControlPlane } from "@catenet/testing/agent/ControlPlane"
import { registered } from "@catenet/testing/agent/Surroundings"
import { eventually, mintPair, start, temporaryFolder, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { Context, Effect, type LogLevel } from "effect"
import { X509Certificate } from "node:crypto"
import { type EventEmitter, once } from "node:events"
import { writeFileSync } from "node:fs"
import type { Server as HttpServer } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { type AddressInfo, connect as connectTcp, type Server } from "node:net"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { connect, type TLSSocket } from "node:tls"
import { WebSocket } from "ws"
import { freePort } from "../../src/Ports.ts"

/** One of the four. */
export interface Path {
  readonly name: string
  /** Where TLS ends. */
  readonly tier: "edge" | "own"
  readonly version: "1.1" | "2"
}

export const paths: ReadonlyArray<Path> = [
  { name: "edge-terminated, HTTP/1.1", tier: "edge", version: "1.1" },
  { name: "edge-terminated, HTTP/2", tier: "edge", version: "2" },
  { name: "end-to-end, HTTP/1.1", tier: "own", version: "1.1" },
  { name: "end-to-end, HTTP/2", tier: "own", version: "2" }
]

/** How a visitor gets to a service. */
export interface Way {
  readonly host: string
  readonly port: number
  readonly ca: string
  /** The address of the visitor, 127.0.0.1 where it is absent; the one of a trusted proxy is {@link proxy}. */
  readonly from?: string
}

/** A service of the agent, as the file of services has it. */
export interface Service {
  readonly to?: string | number
  /** Further lines. */
  readonly options?: ReadonlyArray<string>
  /** Visitors' own TLS is passed to it, for which it has a certificate of this root. */
  readonly passed?: string
}

/** The services of one agent, each at both tiers. */
export class Services extends Context.Service<
  Services,
  {
    readonly wayTo: (service: string, path: Pick<Path, "tier">) => Way
    /** What the agent has logged. */
    readonly logged: ReadonlyArray<string>
    /** Address of the agent's own report. */
    readonly status: string
  }
>()("stack/test/proxy/Services") {}

/** The one address in front of both tiers that may say where a request came from. */
export const proxy = "127.0.0.2"

const controlPlaneOf = Effect.fnUntraced(function* (world: TestEdge) {
  const plane = yield* Effect.acquireRelease(
    Effect.promise(() => startControlPlane(new X509Certificate(world.meshRoot).raw)),
    (running) => Effect.promise(() => running[Symbol.asyncDispose]())
  )
  plane.meshPort = world.mesh
  return plane
})

const runningAgent = Effect.fnUntraced(function* (
  variables: Readonly<Record<string, string>>,
  args: ReadonlyArray<string> = []
) {
  const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (made) =>
    Effect.promise(() => made[Symbol.asyncDispose]())
  )
  return yield* Effect.acquireRelease(
    Effect.sync(() => runAgent(home, { CT_AGENT_TRANSPORTS: "mux", ...variables }, args)),
    (running) => Effect.promise(() => running[Symbol.asyncDispose]())
  )
})

/** Starts `ct-agent` processes at this edge, each registered when it is returned. */
export const agents = Effect.fnUntraced(function* (world: TestEdge) {
  const plane = yield* controlPlaneOf(world)
  return Effect.fnUntraced(function* (digit: string, host: string, more: Readonly<Record<string, string>>) {
    const agent = yield* runningAgent({
      CT_AGENT_CP_URL: plane.url,
      CT_AGENT_TOKEN: token(digit),
      CT_AGENT_HOSTNAME: host,
      CT_AGENT_MODE: "browser",
      ...more
    })
    yield* Effect.promise(() => registered(agent))
  })
})

/** A pair of the host's own, and the variables of an agent that ends TLS with it. */
export const ownPair = Effect.fnUntraced(function* (host: string) {
  const folder = yield* temporaryFolder
  const pair = mintPair([host])
  writeFileSync(join(folder, "fullchain.pem"), pair.cert)
  writeFileSync(join(folder, "privkey.pem"), pair.key)
  return { root: pair.root, variables: { CT_AGENT_ORIGIN_TLS: "terminate", CT_ACME_CERT_OUT_DIR: folder } }
})

/**
 * One edge and one agent with these services, whose file is in this folder. `logLevel` is that of the edge, which logs to the loggers
 * of the caller.
 */
export const serve = Effect.fnUntraced(function* (
  services: Readonly<Record<string, Service>>,
  folder: string,
  logLevel: LogLevel.LogLevel = "None"
) {
  const world = yield* start({ CT_EDGE_TRUSTED_PROXIES: proxy }, { logLevel })
  const plane = yield* controlPlaneOf(world)
  const own = mintPair(["*.zone.test"])
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  const pair = [`tls_certificate: ${file("own.pem", own.cert)}`, `tls_key: ${file("own.key", own.key)}`]
  const status = yield* freePort("127.0.0.1")
  const hostOf = (service: string, tier: Path["tier"]) => `${service}-${tier}.zone.test`
  let text = `control_plane: ${plane.url}\nstatus_listen: 127.0.0.1:${status}\nservices:\n`
  let n = 0
  for (const [service, { options = [], passed, to }] of Object.entries(services))
    for (const tier of ["edge", "own"] as const) {
      const secret = (++n).toString(16).padStart(2, "0").repeat(32)
      const host = hostOf(service, tier)
      yield* Effect.promise(() => world.authorize(secret, host, ...(tier === "edge" ? (["gelb"] as const) : [])))
      const lines = [
        ...(to === undefined ? [] : [`to: "${to}"`]),
        `host: ${host}`,
        `token: "${secret}"`,
        ...(passed === undefined ? pair : ["tls: passthrough"]),
        ...options
      ]
      text += `  ${service}-${tier}:\n${lines.map((line) => `    ${line}\n`).join("")}`
    }
  const agent = yield* runningAgent({ CT_AGENT_TRUSTED_PROXIES: proxy }, ["--config", file("ct-agent.yaml", text)])
  const isRegistered = () => agent.lines.filter((line) => line.includes("event: registered")).length >= n
  yield* Effect.promise(() => eventually(isRegistered, "every service is registered"))
  return Services.of({
    wayTo: (service, { tier }) => ({
      host: hostOf(service, tier),
      port: world.frontDoor,
      ca: tier === "edge" ? world.wildcardRoot : (services[service]?.passed ?? own.root)
    }),
    logged: agent.lines,
    status: `http://127.0.0.1:${status}/status`
  })
})

/** A server that listens on a free port of loopback, or at this socket of the file system, while the scope is open. */
export const listening = <S extends EventEmitter & { readonly close: () => unknown }>(server: S, path?: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      ;(server as unknown as Server).listen(path === undefined ? { port: 0, host: "127.0.0.1" } : { path })
      await once(server, "listening")
      return server
    }),
    () =>
      Effect.sync(
        () => (
          "closeAllConnections" in server && (server as unknown as HttpServer).closeAllConnections(),
          void server.close()
        )
      )
  )

export const portOf = (server: Pick<Server, "address">) => (server.address() as AddressInfo).port

/** A visitor's TLS connection. */
export const dial = ({ ca, from = "127.0.0.1", host, port }: Way, alpn: "h2" | "http/1.1") =>
  Effect.acquireRelease(
    Effect.callback<TLSSocket, Error>((resume) => {
      const socket = connect(
        {
          socket: connectTcp({ host: "127.0.0.1", localAddress: from, port, allowHalfOpen: true, noDelay: true }),
          servername: host,
          ca,
          ALPNProtocols: [alpn]
        },
        () => resume(Effect.succeed(socket))
      )
      socket.once("error", (error) => resume(Effect.fail(error)))
      socket.on("error", () => undefined)
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** A visitor that speaks HTTP/2, on a connection of its own or on this one. */
export const dialHttp2 = (way: Way, dialled?: TLSSocket) =>
  Effect.map(dialled === undefined ? dial(way, "h2") : Effect.succeed(dialled), (socket) => {
    const client = connectHttp2(`https://${way.host}`, {
      createConnection: () => socket,
      maxSessionMemory: 100,
      maxHeaderListPairs: 10_000,
      settings: { maxHeaderListSize: 1_000_000 }
    })
    client.on("error", () => undefined)
    return client
  })

/** The frames of a WebSocket on a stream of HTTP/2. */
export const framesOf = (stream: Duplex, isServer: boolean) => {
  const socket = new WebSocket(null as never, undefined, { autoPong: true })
  const duplex = Object.assign(stream, { setNoDelay: () => stream, setTimeout: () => stream })
  ;(socket as unknown as { _isServer: boolean })._isServer = isServer
  ;(socket as unknown as { setSocket: (s: Duplex, head: Buffer, options: object) => void }).setSocket(
    duplex,
    Buffer.alloc(0),
    { allowSynchronousEvents: true, maxPayload: 1 << 24, skipUTF8Validation: false }
  )
  return socket
}

export { eventually }
