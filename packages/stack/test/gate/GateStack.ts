/**
 * A control plane, its identity provider, an edge of several processes with an agent and an origin behind it, all real; and
 * browsers that go from one to the other with a jar of cookies for each host.
 */
import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { start, type TestEdge as Edge } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { Way } from "@catenet/testing/server/edges/EdgeProgram"
import { account, type Address, portal, Realm, variables } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { request as httpsRequest } from "node:https"
import { connect as connectTcp, type AddressInfo } from "node:net"
import { freePort } from "../../src/Ports.ts"

const password = "correct horse"

/** Where the control plane reaches the edge, which is started after it. */
export const adminPort = Effect.runSync(Effect.cached(Effect.promise(() => Effect.runPromise(freePort("127.0.0.1")))))

export const controlPlane = Layer.unwrap(
  Effect.gen(function* () {
    const same = yield* variables
    const port = yield* adminPort
    return TestServer.layer({
      ...same,
      CT_CP_HOSTNAME_ZONE: "zone.test",
      CT_CP_EDGE_ADMIN_URL: `http://127.0.0.1:${port}`
    })
  })
).pipe(Layer.provideMerge(Realm.layer))

/** What an origin was asked, field for field. */
export interface Heard {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly raw: ReadonlyArray<string>
}

interface Origin {
  readonly port: number
  readonly heard: Array<Heard>
  readonly close: () => void
}

/** An origin that keeps what it was asked, and echoes where a visitor upgrades. */
const origin = Effect.acquireRelease(
  Effect.callback<Origin>((resume) => {
    const heard: Array<Heard> = []
    const server = createServer((request, response) => {
      heard.push({ url: request.url ?? "", headers: request.headers, raw: request.rawHeaders })
      response.end("the origin")
    })
    server.on("upgrade", (request, socket) => {
      heard.push({ url: request.url ?? "", headers: request.headers, raw: request.rawHeaders })
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhello\n")
      socket.on("error", () => undefined).pipe(socket)
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resume(Effect.succeed({ port, heard, close: () => (server.closeAllConnections(), void server.close()) }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const away = Effect.acquireRelease(
  Effect.gen(function* () {
    const way = new Way(Number(new URL(yield* TestServer.baseUrl).port))
    return { way, url: `http://127.0.0.1:${yield* Effect.promise(way.open)}` }
  }),
  ({ way }) => Effect.sync(() => way.close())
)

/** Two edges of the control plane's, the first of two processes, and an origin; the way to the control plane can be cut. */
const edges = Effect.gen(function* () {
  const { url, way } = yield* away
  const first = yield* start({
    CT_EDGE_CP_URL: url,
    CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${yield* adminPort}`,
    CT_EDGE_ID: "primary",
    CT_EDGE_PROCESSES: "2"
  })
  const other = yield* freePort("127.0.0.1")
  const second = yield* start({
    CT_EDGE_CP_URL: url,
    CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${other}`,
    CT_EDGE_ADMIN_URL: `http://127.0.0.1:${other}`,
    CT_EDGE_HEARTBEAT_SECS: "1",
    CT_EDGE_ID: "second"
  })
  return { first, second, way, origin: yield* origin }
})

export class Edges extends Context.Service<
  Edges,
  { readonly first: Edge; readonly second: Edge; readonly way: Way; readonly origin: Origin }
>()("test/GateEdges") {
  static readonly layer = Layer.effect(Edges, edges)
}

/** Serves a tunnel of somebody's by an agent at the edge, whose origin it is. */
export const serve = Effect.fn("serve")(function* (
  at: Edge,
  {
    host,
    id,
    owner,
    port
  }: { readonly host: string; readonly id: string; readonly owner: Address; readonly port: number }
) {
  const { tunnels } = yield* account(owner)
  const { routing_token } = yield* tunnels.install({ headers: {}, params: { id: id as never } })
  const token = Redacted.value(routing_token)
  const carry = (stream: CarrierStream) => {
    const socket = connectTcp({ port, host: "127.0.0.1", allowHalfOpen: true })
    socket.on("error", () => stream.destroy())
    stream.on("error", () => socket.destroy())
    stream.pipe(socket).pipe(stream)
    stream.once("close", () => socket.destroy())
  }
  const isAuthorized = async () =>
    JSON.stringify((await at.admin("GET", "/admin/host-auth-dump")).body).includes(`"${host}"`)
  yield* Effect.promise(() => eventually(isAuthorized, `the authorization of ${host}`))
  return yield* servingAgent(at, token, [host], carry)
})

export interface Seen {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** One request to a host that the edge serves, over HTTP/1.1 and on a connection of its own. */
export const ask = (
  at: Edge,
  address: string,
  headers: Readonly<Record<string, string | ReadonlyArray<string>>> = {},
  method = "GET"
) =>
  new Promise<Seen>((resolve, reject) => {
    const { hostname, pathname, search } = new URL(address)
    const request = httpsRequest(
      {
        host: "127.0.0.1",
        port: at.frontDoor,
        servername: hostname,
        ca: at.wildcardRoot,
        agent: false,
        method,
        path: `${pathname}${search}`,
        headers: { host: hostname, ...headers }
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
        response.on("error", reject)
      }
    )
    request.on("error", reject).end()
  })

/** The same over HTTP/2. */
export const askHttp2 = async (
  at: Edge,
  host: string,
  headers: Readonly<Record<string, string | ReadonlyArray<string>>>
) => {
  const socket = await tlsTo(at.frontDoor, at.wildcardRoot, host, ["h2"])
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket })
  try {
    return await new Promise<number>((resolve, reject) => {
      session.on("error", reject)
      const stream = session.request({ ":path": "/", ...(headers as Record<string, string>) })
      stream.on("response", (answer) => resolve(answer[":status"] ?? 0)).on("error", reject)
      stream.resume()
    })
  } finally {
    session.destroy()
  }
}

/** A handshake of a WebSocket, written as it is. Resolves with the status, and the connection where it was upgraded. */
export const upgrade = async (at: Edge, host: string, fields: ReadonlyArray<string>) => {
  const socket = await tlsTo(at.frontDoor, at.wildcardRoot, host, ["http/1.1"])
  const closed = new Promise<number>((resolve) => {
    for (const event of ["end", "close"]) socket.once(event, () => resolve(performance.now()))
  })
  const answer = readUntil(socket, "\r\n\r\n")
  const head = ["GET /socket HTTP/1.1", `Host: ${host}`, "Connection: Upgrade", "Upgrade: echo", ...fields]
  socket.write(`${head.join("\r\n")}\r\n\r\n`)
  const status = Number(/^HTTP\/1.1 (\d{3})/.exec(await answer)?.[1])
  return { status, socket, closed }
}

/** A browser: a jar for each host, which nothing leaves for another. */
export const browser = (edgeAt: () => Edge) => {
  const jars = new Map<string, Map<string, string>>()
  const jar = (host: string) => {
    const found = jars.get(host) ?? new Map<string, string>()
    jars.set(host, found)
    return found
  }
  const cookies = (host: string) => Array.from(jar(host), ([name, value]) => `${name}=${value}`).join("; ")
  const keep = (host: string, given: ReadonlyArray<string>) => {
    for (const cookie of given) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      assert.notInclude(cookie.toLowerCase(), "domain=", "a cookie is for one host")
      if (/Max-Age=0\b|Expires=Thu, 01 Jan 1970/u.test(cookie)) jar(host).delete(name)
      else jar(host).set(name, value)
    }
  }

  /** One request, wherever it goes. */
  const get = (address: string, headers: Readonly<Record<string, string>> = {}, form?: Record<string, string>) =>
    Effect.gen(function* () {
      const url = new URL(address)
      const cookie = cookies(url.host)
      const sent = { ...(cookie === "" ? {} : { cookie }), ...headers }
      if (url.hostname.endsWith(".zone.test")) {
        const seen = yield* Effect.promise(() => ask(edgeAt(), address, sent))
        keep(url.host, seen.headers["set-cookie"] ?? [])
        return seen
      }
      const init = {
        redirect: "manual" as const,
        headers: sent,
        ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
      }
      const response = address.startsWith(portal)
        ? yield* TestServer.raw(`${url.pathname}${url.search}`, init)
        : yield* Effect.promise(() => fetch(address, init))
      keep(url.host, response.headers.getSetCookie())
      const text = yield* Effect.promise(() => response.text())
      return { status: response.status, headers: Object.fromEntries(response.headers) as IncomingHttpHeaders, text }
    })

  /** Follows redirects, and signs in where the provider asks; the addresses on the way are kept. */
  const visit = (address: string, email?: Address) =>
    Effect.gen(function* () {
      const way: Array<string> = []
      let at = address
      let seen = yield* get(at)
      for (let step = 0; step < 20; step++) {
        way.push(at)
        const { location } = seen.headers
        const action = /<form[^>]*action="([^"]+)"/.exec(seen.text)?.[1]
        if (location !== undefined) {
          at = new URL(location, at).href
          seen = yield* get(at)
        } else if (action !== undefined && email !== undefined) {
          at = new URL(action.replaceAll(/&amp;|&#38;/g, "&"), at).href
          seen = yield* get(at, {}, { username: email, password })
        } else return { ...seen, at, way }
      }
      return yield* Effect.die(new Error(`led in circles: ${way.join(" ")}`))
    })

  return { jar, cookies, get, visit }
}
