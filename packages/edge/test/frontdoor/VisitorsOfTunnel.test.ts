import { readUntil, servingAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect as connectHttp2 } from "node:http2"
import { connect as connectTcp } from "node:net"
import { connect, type TLSSocket } from "node:tls"

const fullTunnel = { token: token("1"), host: "full.zone.test" }
const other = { token: token("2"), host: "other.zone.test" }
const passedThrough = { token: token("3"), host: "own.zone.test" }
const maxVisitors = 4

/** A visitor from this address; every address of 127.0.0.0/8 is one of this machine. */
const from = (world: TestEdge, localAddress: string, host: string, alpn: ReadonlyArray<string> = []) =>
  new Promise<TLSSocket>((resolve, reject) => {
    const socket: TLSSocket = connect(
      {
        socket: connectTcp({ host: "127.0.0.1", port: world.frontDoor, localAddress, noDelay: true }),
        servername: host,
        ca: world.wildcardRoot,
        ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] })
      },
      () => resolve(socket)
    )
    socket.once("error", reject).once("close", () => reject(new Error("closed")))
    socket.on("error", () => undefined)
  })

const asking = async (world: TestEdge, localAddress: string, host: string) => {
  const socket = await from(world, localAddress, host)
  socket.write("\x00served")
  await readUntil(socket, "served")
  return socket
}

const served = (asked: Promise<TLSSocket>) =>
  asked.then(
    (socket) => {
      socket.destroy()
      return true
    },
    () => false
  )

const world = (variables: Record<string, string>) =>
  Effect.gen(function* () {
    const world = yield* start(variables)
    for (const { host, token } of [fullTunnel, other]) {
      yield* Effect.promise(() => world.authorize(token, host, "gelb"))
      yield* servingAgent(world, token, [host])
    }
    return world
  })

const several = <A>(count: number, one: () => Promise<A>) =>
  Effect.promise(() => Promise.all(Array.from({ length: count }, one)))

describe("visitors of a tunnel", () => {
  it.live("have CT_EDGE_MAX_VISITORS_PER_TUNNEL places, of each tunnel its own, until one leaves", () =>
    Effect.gen(function* () {
      const edge = yield* world({ CT_EDGE_MAX_VISITORS_PER_TUNNEL: String(maxVisitors) })
      const visitors = yield* several(maxVisitors, () => asking(edge, "127.0.0.2", fullTunnel.host))
      yield* Effect.promise(async () => {
        assert.isFalse(await served(asking(edge, "127.0.0.2", fullTunnel.host)))
        assert.strictEqual((await edge.metrics())["ct_edge_full_tunnel_total"], 1)
        assert.isTrue(await served(asking(edge, "127.0.0.2", other.host)))
        visitors[0]?.destroy()
        await eventually(
          async () => (await edge.metrics())["ct_edge_visitor_connections"] === maxVisitors - 1,
          "one is gone"
        )
        assert.isTrue(await served(asking(edge, "127.0.0.2", fullTunnel.host)))
        for (const visitor of visitors) visitor.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("of an address that fills a tunnel give way to those of another address", () =>
    Effect.gen(function* () {
      const edge = yield* world({ CT_EDGE_MAX_VISITORS_PER_TUNNEL: String(maxVisitors) })
      const crowd = yield* several(maxVisitors, () => asking(edge, "127.0.0.2", fullTunnel.host))
      yield* Effect.promise(async () => {
        const others = [await asking(edge, "127.0.0.3", fullTunnel.host)]
        others.push(await asking(edge, "127.0.0.3", fullTunnel.host))
        await eventually(() => crowd.filter(({ destroyed }) => destroyed).length === 2, "two made room")
        assert.isFalse(await served(asking(edge, "127.0.0.3", fullTunnel.host)), "no more than its share")
        assert.strictEqual((await edge.metrics())["ct_edge_visitors_evicted_total"], 2)
        for (const visitor of [...crowd, ...others]) visitor.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("take no place by a handshake, whatever HTTP they speak, so that silence fills neither tunnel nor edge", () =>
    Effect.gen(function* () {
      const edge = yield* world({
        CT_EDGE_MAX_VISITORS_PER_TUNNEL: "2",
        CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "2"
      })
      const silent = [
        ...(yield* several(6, () => from(edge, "127.0.0.2", fullTunnel.host))),
        ...(yield* several(6, () => from(edge, "127.0.0.2", fullTunnel.host, ["h2"])))
      ]
      yield* Effect.promise(async () => {
        for (const host of [fullTunnel.host, other.host])
          assert.isTrue(await served(asking(edge, "127.0.0.2", host)), host)
        for (const socket of silent) socket.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("of an address that fills the edge give way to those of another address, at every tunnel", () =>
    Effect.gen(function* () {
      const edge = yield* world({ CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "4" })
      const crowd = yield* several(4, () => asking(edge, "127.0.0.2", fullTunnel.host))
      yield* Effect.promise(async () => {
        assert.isFalse(await served(asking(edge, "127.0.0.2", other.host)))
        assert.isTrue(await served(asking(edge, "127.0.0.3", other.host)))
        assert.strictEqual((await edge.metrics())["ct_edge_full_edge_total"], 1)
        for (const visitor of crowd) visitor.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("whose TLS ends behind the edge share its places from their ClientHello on", () =>
    Effect.gen(function* () {
      const edge = yield* start({ CT_EDGE_MAX_VISITORS_PER_TUNNEL: "2" })
      yield* Effect.promise(() => edge.authorize(passedThrough.token, passedThrough.host))
      const agent = yield* servingAgent(edge, passedThrough.token, [passedThrough.host], () => undefined)
      const visit = (localAddress: string) => void from(edge, localAddress, passedThrough.host).catch(() => undefined)
      const open = () => agent.streams.filter(({ destroyed }) => !destroyed).length
      yield* Effect.promise(async () => {
        for (let at = 0; at < 3; at++) visit("127.0.0.2")
        await eventually(async () => (await edge.metrics())["ct_edge_full_tunnel_total"] === 1, "the third is refused")
        visit("127.0.0.3")
        await eventually(() => agent.streams.length === 3, "another address comes through")
        await eventually(() => open() === 2, "one of the first address is gone")
      })
    }).pipe(Effect.scoped)
  )

  it.live("hear 503 on a page when all places are taken, over HTTP/1.1 and HTTP/2", () =>
    Effect.gen(function* () {
      const edge = yield* world({ CT_EDGE_MAX_VISITORS_PER_TUNNEL: "1" })
      const [visitor] = yield* several(1, () => asking(edge, "127.0.0.2", fullTunnel.host))
      yield* Effect.promise(async () => {
        const late = await from(edge, "127.0.0.3", fullTunnel.host, ["http/1.1"])
        late.write(`GET / HTTP/1.1\r\nHost: ${fullTunnel.host}\r\n\r\n`)
        assert.match(await readUntil(late, "Too many visitors"), /^HTTP\/1\.1 503 /)
        const socket = await from(edge, "127.0.0.3", fullTunnel.host, ["h2"])
        const client = connectHttp2(`https://${fullTunnel.host}`, { createConnection: () => socket })
        const status = await new Promise((resolve, reject) => {
          const request = client.request({ ":path": "/" })
          request.once("response", (headers) => resolve(headers[":status"])).once("error", reject)
        })
        assert.strictEqual(status, 503)
        client.destroy()
        visitor?.destroy()
      })
    }).pipe(Effect.scoped)
  )
})
