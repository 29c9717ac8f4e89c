/**
 * One origin behind both tiers: an edge in this process, and two agents in processes of their own. One agent serves a host whose
 * TLS the edge ends, the other a host whose TLS the agent ends.
 */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { startControlPlane } from "@catenet/testing/agent/ControlPlane"
import { registered } from "@catenet/testing/agent/Surroundings"
import { eventually, mintPair, start, temporaryFolder, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { Effect, type LogLevel } from "effect"
import { X509Certificate } from "node:crypto"
import { writeFileSync } from "node:fs"
import { connect as connectHttp2 } from "node:http2"
import { connect as connectTcp } from "node:net"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { connect, type TLSSocket } from "node:tls"
import { WebSocket } from "ws"

export interface Tier {
  readonly name: "edge-terminated" | "end-to-end"
  readonly host: string
  readonly port: number
  readonly ca: string
  /** The address of the visitor, 127.0.0.1 where it is absent; the one of a trusted proxy is {@link proxy}. */
  readonly from?: string
  /** What the agent has logged. */
  readonly logged: ReadonlyArray<string>
}

/** The one address in front of both tiers that may say where a request came from. */
export const proxy = "127.0.0.2"

/** Starts `ct-agent` processes at this edge, each registered when it is returned. */
export const agents = Effect.fnUntraced(function* (world: TestEdge) {
  const plane = yield* Effect.acquireRelease(
    Effect.promise(() => startControlPlane(new X509Certificate(world.meshRoot).raw)),
    (running) => Effect.promise(() => running[Symbol.asyncDispose]())
  )
  plane.meshPort = world.mesh
  return Effect.fnUntraced(function* (digit: string, host: string, more: Readonly<Record<string, string>>) {
    const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (made) =>
      Effect.promise(() => made[Symbol.asyncDispose]())
    )
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() =>
        runAgent(home, {
          CT_AGENT_CP_URL: plane.url,
          CT_AGENT_TOKEN: token(digit),
          CT_AGENT_HOSTNAME: host,
          CT_AGENT_MODE: "browser",
          CT_AGENT_TRANSPORTS: "mux",
          ...more
        })
      ),
      (running) => Effect.promise(() => running[Symbol.asyncDispose]())
    )
    yield* Effect.promise(() => registered(agent))
    return agent.lines
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

/** The origin's port is on loopback. `logLevel` is that of the edge, which logs to the loggers of the caller. */
export const make = Effect.fnUntraced(function* (
  originPort: number,
  logLevel: LogLevel.LogLevel = "None",
  scheme: "" | "h2c://" | "https://" = "",
  more: Readonly<Record<string, string>> = {}
) {
  const world = yield* start({ CT_EDGE_TRUSTED_PROXIES: proxy }, { logLevel })
  const serve = yield* agents(world)
  const origin = { CT_AGENT_ORIGIN: `${scheme}127.0.0.1:${originPort}`, ...more }
  const [edgeHost, ownHost] = ["edge.zone.test", "own.zone.test"]
  yield* Effect.promise(() => world.authorize(token("e"), edgeHost, "gelb"))
  yield* Effect.promise(() => world.authorize(token("a"), ownHost))
  const { root, variables } = yield* ownPair(ownHost)
  const [ofEdge, own] = yield* Effect.all(
    [serve("e", edgeHost, origin), serve("a", ownHost, { ...origin, CT_AGENT_TRUSTED_PROXIES: proxy, ...variables })],
    { concurrency: 2 }
  )
  const port = world.frontDoor
  const gelb: Tier = { name: "edge-terminated", host: edgeHost, port, ca: world.wildcardRoot, logged: ofEdge }
  const gruen: Tier = { name: "end-to-end", host: ownHost, port, ca: root, logged: own }
  return [gelb, gruen] as const
})

/** A visitor's TLS connection. */
export const dial = ({ ca, from = "127.0.0.1", host, port }: Tier, alpn: "h2" | "http/1.1") =>
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
export const dialHttp2 = (tier: Tier, dialled?: TLSSocket) =>
  Effect.map(dialled === undefined ? dial(tier, "h2") : Effect.succeed(dialled), (socket) => {
    const client = connectHttp2(`https://${tier.host}`, {
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
