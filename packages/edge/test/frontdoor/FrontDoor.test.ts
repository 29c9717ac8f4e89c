import { muxAgent, readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { helloFor } from "@catenet/testing/edge/Hello"
import { eventually, mintPair, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { encodeAdmission } from "@catenet/wire/frames/Role"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"

const gruenHost = { token: token("a"), host: "own.example.test" }
const gelbHost = { token: token("b"), host: "app.zone.test" }
const portal = "portal.example.test"
const unrecognizedName = Buffer.of(0x15, 3, 3, 0, 2, 2, 112)
const internalError = Buffer.of(0x15, 3, 3, 0, 2, 2, 80)

/** An edge with a listener for visitors only, an agent of a gelb host and one whose origin holds its own certificate. */
const visited = Effect.fn("visited")(function* (variables: Record<string, string> = {}) {
  const world = yield* start({ CT_EDGE_BROWSER_LISTEN: "127.0.0.1:0", ...variables })
  yield* Effect.promise(() => world.authorize(gruenHost.token, gruenHost.host))
  yield* Effect.promise(() => world.authorize(gelbHost.token, gelbHost.host, "gelb"))
  const origin = mintPair([gruenHost.host])
  const gruen = yield* servingAgent(world, gruenHost.token, [gruenHost.host], (stream) => {
    const server = new TLSSocket(stream as unknown as Socket, { isServer: true, cert: origin.cert, key: origin.key })
    server.on("error", () => undefined).on("end", () => server.end())
    server.on("data", (data: Buffer) => server.end(`own ${data.toString()}`))
  })
  const gelb = yield* servingAgent(world, gelbHost.token, [gelbHost.host], (stream) => {
    const answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
    readUntil(stream, "\r\n\r\n").then(
      () => stream.end(answer),
      () => stream.end()
    )
  })
  return { world, port: world.bound.browser?.port ?? 0, root: origin.root, gruen, gelb }
})

/** Every byte that comes back before the connection is over. */
const answerTo = (port: number, bytes: Uint8Array) =>
  Effect.promise(
    () =>
      new Promise<Buffer>((resolve) => {
        const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
        const heard: Array<Buffer> = []
        const over = () => {
          resolve(Buffer.concat(heard))
          socket.destroy()
        }
        socket.on("data", (chunk: Buffer) => heard.push(chunk))
        socket.once("end", over).once("close", over).on("error", over)
        socket.write(bytes)
      })
  )

const helloOf = (...args: Parameters<typeof helloFor>) => Effect.promise(() => helloFor(...args))
const registrations = (world: TestEdge) =>
  Effect.map(
    Effect.promise(() => world.metrics()),
    (metrics) => metrics["ct_edge_registrations_total"]
  )

describe("a listener for visitors only", () => {
  it.live("serves visitors of tunnels of both tiers by their name", () =>
    Effect.gen(function* () {
      const { port, root, world } = yield* visited()
      const visitor = yield* Effect.promise(() => tlsTo(port, root, gruenHost.host))
      const own = readAll(visitor)
      visitor.end("hello")
      assert.strictEqual((yield* Effect.promise(() => own)).toString(), "own hello")
      const other = yield* Effect.promise(() => tlsTo(port, world.wildcardRoot, gelbHost.host, ["http/1.1"]))
      const answer = readAll(other)
      other.write(`GET / HTTP/1.1\r\nHost: ${gelbHost.host}\r\n\r\n`)
      assert.match((yield* Effect.promise(() => answer)).toString(), /^HTTP\/1.1 204 /)
      other.end()
    }).pipe(Effect.scoped)
  )

  it.live("serves every name one label below a wildcard by its agent, and a name of its own by its own", () =>
    Effect.gen(function* () {
      const { port, world } = yield* visited()
      const [wild, own] = [token("c"), token("d")]
      yield* Effect.promise(() => world.authorize(wild, "*.dev.example.test", "gelb"))
      yield* Effect.promise(() => world.authorize(own, "own.dev.example.test"))
      const pair = mintPair(["*.dev.example.test"])
      const answering = (by: string) => (stream: Duplex) => {
        const server = new TLSSocket(stream as unknown as Socket, { isServer: true, cert: pair.cert, key: pair.key })
        server.on("error", () => undefined).on("end", () => server.end())
        server.on("data", (data: Buffer) => server.end(`${by} ${data.toString()}`))
      }
      yield* servingAgent(world, wild, ["*.dev.example.test"], answering("wildcard"))
      yield* servingAgent(world, own, ["own.dev.example.test"], answering("own"))
      const visit = (host: string) =>
        Effect.promise(async () => {
          const visitor = await tlsTo(port, pair.root, host)
          const answer = readAll(visitor)
          visitor.end("hello")
          return (await answer).toString()
        })
      assert.strictEqual(yield* visit("app.dev.example.test"), "wildcard hello")
      assert.strictEqual(yield* visit("OWN.dev.example.test"), "own hello")
      for (const host of ["a.b.dev.example.test", "dev.example.test"])
        assert.deepStrictEqual(yield* answerTo(port, yield* helloOf(host)), unrecognizedName, host)
      const { status } = yield* Effect.promise(() =>
        world.admin("POST", "/admin/release-host/*.dev.example.test", { headers: { "x-ct-routing-token": wild } })
      )
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(yield* answerTo(port, yield* helloOf("app.dev.example.test")), unrecognizedName)
      assert.strictEqual(yield* visit("own.dev.example.test"), "own hello")
    }).pipe(Effect.scoped)
  )

  it.live("refuses agents of every protocol", () =>
    Effect.gen(function* () {
      const { gruen, port, world } = yield* visited()
      const before = yield* registrations(world)
      for (const alpn of [["ct-edge-mux"], ["ct-edge"], []]) {
        assert.deepStrictEqual(yield* answerTo(port, yield* helloOf("localhost", alpn)), unrecognizedName)
      }
      const admission = { role: "B", token: Buffer.from(gelbHost.token, "hex"), host: gelbHost.host } as const
      assert.lengthOf(yield* answerTo(port, encodeAdmission(admission)), 0)
      // What an agent would say behind the name of a gelb host goes to that host, as any visitor's word does.
      const visitor = yield* Effect.promise(() => tlsTo(port, world.wildcardRoot, gelbHost.host, []))
      const heard = readAll(visitor)
      visitor.end(encodeAdmission(admission))
      assert.notMatch((yield* Effect.promise(() => heard)).toString(), /^(OK|NO)/)
      // The name is all that counts: an origin may speak any protocol it likes.
      const hello = yield* helloOf(gruenHost.host, ["ct-edge-mux"])
      const through = connect({ host: "127.0.0.1", port })
      through.write(hello)
      yield* Effect.promise(() => eventually(() => gruen.streams.length === 1, "the hello reaches the host's agent"))
      through.destroy()
      assert.strictEqual(yield* registrations(world), before)
    }).pipe(Effect.scoped)
  )

  it.live("serves no host of the platform and no default host", () =>
    Effect.gen(function* () {
      const { port } = yield* visited({ CT_EDGE_PORTAL_HOST: portal, CT_CP_PROXY_ADDR: "127.0.0.1:1" })
      assert.deepStrictEqual(yield* answerTo(port, yield* helloOf(portal, ["h2"])), unrecognizedName)
      assert.lengthOf(yield* answerTo(port, yield* helloOf("", ["h2"])), 0)
      assert.lengthOf(yield* answerTo(port, Buffer.from("GET / HTTP/1.1\r\n\r\n")), 0)
    }).pipe(Effect.scoped)
  )

  /** A visitor that stays, once it is in. */
  const staying = Effect.fn("staying")(function* (port: number, root: string) {
    const visitor = yield* Effect.acquireRelease(
      Effect.promise(() => tlsTo(port, root, gruenHost.host)),
      (visitor) => Effect.sync(() => visitor.destroy())
    )
    return visitor
  })

  it.live("counts for the limit of visitors, refuses the next one with a TLS alert and leaves agents room", () =>
    Effect.gen(function* () {
      const { port, root, world } = yield* visited({ CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "2" })
      const [first] = [yield* staying(port, root), yield* staying(world.frontDoor, root)]
      const hello = yield* helloOf(gruenHost.host)
      for (const full of [port, world.frontDoor]) assert.deepStrictEqual(yield* answerTo(full, hello), internalError)
      const agent = yield* muxAgent(world)
      assert.isTrue(Result.isSuccess(yield* Effect.promise(() => agent.register(gelbHost.token, [gelbHost.host]))))
      first.destroy()
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_visitor_connections"] === 1, "one place is free")
      )
      yield* staying(port, root)
    }).pipe(Effect.scoped)
  )

  it.live("counts for the limits of all connections, with its own label", () =>
    Effect.gen(function* () {
      for (const [variable, reason] of [
        ["CT_EDGE_MAX_CONNECTIONS", "connections"],
        ["CT_EDGE_MAX_CONNECTIONS_PER_IP", "address"]
      ] as const) {
        // Two of them are the agents.
        const { port, root, world } = yield* visited({ [variable]: "3" })
        const shed = `ct_edge_listener_conn_cap_sheds_total{listener="browser",reason="${reason}"}`
        const only = yield* staying(port, root)
        assert.lengthOf(yield* answerTo(port, yield* helloOf(gruenHost.host)), 0)
        assert.strictEqual((yield* Effect.promise(() => world.metrics()))[shed], 1)
        only.destroy()
        yield* Effect.promise(() =>
          eventually(async () => (await world.metrics())["ct_edge_connections"] === 2, "its place is free")
        )
        yield* staying(port, root)
      }
    }).pipe(Effect.scoped)
  )
})
