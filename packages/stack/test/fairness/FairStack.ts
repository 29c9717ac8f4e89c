/** A control plane with its identity provider and an edge, all real, with small caps; and parties that come from their own addresses. */
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { account, type Address, Realm, variables } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http"
import { request as httpsRequest } from "node:https"
import { connect as connectTcp, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { freePort } from "../../src/Ports.ts"

/** How much larger the caps and the floods are; the campaign has the caps of an edge by default. */
export const scale = Number(process.env["CATENET_FAIR_SCALE"] ?? 1)

export const caps = {
  connections: 64 * scale,
  visitors: 24 * scale,
  visitorsOfTunnel: 12 * scale,
  agents: 16 * scale,
  members: 12 * scale,
  requests: 400,
  signIns: 20,
  tunnels: 8,
  channels: 8
} as const

export const crowd = "127.0.0.2"
export const other = "127.0.0.3"

const adminPort = Effect.runSync(Effect.cached(freePort("127.0.0.1")))

const controlPlane = Layer.unwrap(
  Effect.gen(function* () {
    return TestServer.layer({
      ...(yield* variables),
      CT_CP_HOSTNAME_ZONE: "zone.test",
      CT_GATE_COOKIE_DOMAIN: "zone.test",
      CT_CP_EDGE_ADMIN_URL: `http://127.0.0.1:${yield* adminPort}`,
      CT_CP_REQUESTS_PER_MIN: String(caps.requests),
      CT_CP_UNAUTH_WRITE_PER_MIN: String(caps.signIns),
      CT_CP_TUNNELS_PER_ACCOUNT: String(caps.tunnels),
      CT_CP_CHANNELS_PER_ACCOUNT: String(caps.channels)
    })
  })
).pipe(Layer.provideMerge(Realm.layer))

export class FairEdge extends Context.Service<FairEdge, TestEdge>()("test/FairEdge") {
  static readonly layer = Layer.effect(
    FairEdge,
    Effect.gen(function* () {
      return yield* start({
        CT_EDGE_CP_URL: yield* TestServer.baseUrl,
        CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${yield* adminPort}`,
        CT_EDGE_ID: "primary",
        CT_EDGE_MAX_CONNECTIONS: String(caps.connections),
        CT_EDGE_MAX_CONNECTIONS_PER_IP: "0",
        CT_EDGE_MAX_CONNECTION_RATE_PER_IP: "0",
        CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: String(caps.visitors),
        CT_EDGE_MAX_VISITORS_PER_TUNNEL: String(caps.visitorsOfTunnel),
        CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: String(caps.agents),
        CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS: String(caps.members)
      })
    })
  )
}

export const stack = FairEdge.layer.pipe(Layer.provideMerge(controlPlane))

const hostFrom = Schema.decodeSync(Hostname)
const nameFrom = Schema.decodeSync(TunnelName)

const answers = (stream: CarrierStream) => {
  stream.on("error", () => {})
  stream.on("data", () => void stream.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nserved"))
  stream.on("end", () => void stream.end())
}

let made = 0

/** A tunnel of the account that the edge knows, until the scope ends, and its token. */
export const tunnelOf = Effect.fn("tunnelOf")(function* (owner: Address, name: string) {
  const edge = yield* FairEdge
  const { tunnels } = yield* account(owner)
  const host = `${name}-${made++}.zone.test`
  const payload = { name: nameFrom(name), hostname: hostFrom(host) }
  const { id } = yield* Effect.acquireRelease(tunnels.create({ headers: {}, payload }), ({ id }) =>
    Effect.orDie(tunnels.remove({ params: { id } }))
  )
  const installed = yield* tunnels.install({ headers: {}, params: { id } })
  const isKnown = async () => JSON.stringify((await edge.admin("GET", "/admin/host-auth-dump")).body).includes(host)
  yield* Effect.promise(() => eventually(isKnown, `the edge knows ${host}`))
  return { host, token: Redacted.value(installed.routing_token) }
})

/** An agent that serves the tunnel for as long as the scope is open. */
export const agentOf = Effect.fn("agentOf")(function* ({
  host,
  token
}: {
  readonly host: string
  readonly token: string
}) {
  return yield* servingAgent(yield* FairEdge, token, [host], answers)
})

const answerTo = (send: (done: (response: IncomingMessage) => void) => ReturnType<typeof httpRequest>) =>
  new Promise<number>((resolve) => {
    const request = send((response) => {
      resolve(response.statusCode ?? 0)
      response.on("error", () => {})
      response.resume()
    })
    request.on("error", () => resolve(0))
    request.end()
  })

/** The status that a visitor from this address gets; 0 without an answer. */
export const visit = Effect.fn("visit")(function* (host: string, from: string = other) {
  const { frontDoor, wildcardRoot } = yield* FairEdge
  const options = { host: "127.0.0.1", port: frontDoor, servername: host, headers: { host }, ca: wildcardRoot }
  return yield* Effect.promise(() =>
    answerTo((done) => httpsRequest({ ...options, localAddress: from, agent: false }, done))
  )
})

/** The status that the control plane answers to a request from this address. With `keep`, the answer may go on. */
export const asked = Effect.fn("asked")(function* (path: string, from: string, options: RequestOptions = {}) {
  const { hostname, port } = new URL(yield* TestServer.baseUrl)
  return yield* Effect.promise(() =>
    answerTo((done) => httpRequest({ host: hostname, port, path, localAddress: from, ...options }, done))
  )
})

/** Holds what is opened until the scope ends. Those that are refused count as well. */
export const flood = (count: number, open: () => Promise<Socket>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const held: Array<Socket> = []
      for (let n = 0; n < count; n += 16) {
        const some = Array.from({ length: Math.min(16, count - n) }, open)
        for (const one of await Promise.allSettled(some)) if (one.status === "fulfilled") held.push(one.value)
      }
      return held
    }),
    (held) => Effect.sync(() => held.forEach((socket) => socket.destroy()))
  )

/** A connection from the crowd on which nothing is said. */
export const silentTcp = (port: number) => () =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connectTcp({ host: "127.0.0.1", port, localAddress: crowd }, () => resolve(socket))
    socket.once("error", reject).on("error", () => {})
    socket.resume()
  })

/** The same with TLS. */
export const silentTls = (port: number, ca: string, servername: string, protocol?: string) => () =>
  new Promise<Socket>((resolve, reject) => {
    const alpn = protocol === undefined ? {} : { ALPNProtocols: [protocol] }
    const options = { host: "127.0.0.1", port, localAddress: crowd, servername, ca, ...alpn }
    const socket = connectTls(options, () => resolve(socket))
    socket.once("error", reject).on("error", () => {})
    socket.once("close", () => reject(new Error("closed")))
    socket.resume()
  })

/** A connection of an agent, or of one that might become an agent. */
export const agentTls = (world: TestEdge, protocol: string) => async () => {
  const socket = await tlsTo(world.mesh, world.meshRoot, "localhost", [protocol])
  socket.resume()
  return socket
}

/** The status of an answer that goes on until the scope ends. */
export const held = Effect.fn("held")(function* (path: string, from: string) {
  const { hostname, port } = new URL(yield* TestServer.baseUrl)
  const request = yield* Effect.acquireRelease(
    Effect.sync(() => httpRequest({ host: hostname, port, path, localAddress: from, agent: false })),
    (request) => Effect.sync(() => void request.destroy())
  )
  return yield* Effect.promise(
    () =>
      new Promise<number>((resolve) => {
        request.once("response", (response) => resolve(response.resume().statusCode ?? 0))
        request.on("error", () => resolve(0))
        request.end()
      })
  )
})

/** An access token of this person. */
export const bearerOf = Effect.fn("bearerOf")(function* (username: Address) {
  const { issuer } = yield* Realm
  const body = new URLSearchParams({
    grant_type: "password",
    client_id: "admin-cli",
    username,
    password: "correct horse"
  })
  const answer = yield* Effect.promise(async () => {
    const response = await fetch(`${issuer}/protocol/openid-connect/token`, { method: "POST", body })
    return (await response.json()) as { readonly access_token: string }
  })
  return answer.access_token
})
