/** Every way in which a member comes, and that the ways do not matter to whom it meets. */
import { tlsTo, readAll } from "@catenet/testing/edge/Agent"
import * as Members from "@catenet/testing/edge/Members"
import { processOfMembers, program, untilTaken } from "@catenet/testing/edge/QuicMember"
import { eventually, mintPair, start, temporaryFolder, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

const portal = "portal.example.test"
const public_ = mintPair([portal, "localhost"])

const life = Effect.runSync(Scope.make())
let world: TestEdge
let upstream: Server
let carriers: Readonly<Record<string, Members.JoinOptions>>
/** Ways to the port of the rendezvous, besides TLS. */
let met: ReadonlyArray<Members.JoinOptions>
beforeAll(async () => {
  upstream = createServer((request, response) => response.end(`upstream ${request.url}`))
  await new Promise<void>((resolve) => void upstream.listen(0, "127.0.0.1", resolve))
  const folder = await Effect.runPromise(temporaryFolder.pipe(Scope.provide(life)))
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const pair = { cert: file("public.pem", public_.cert), key: file("public-key.pem", public_.key) }
  const variables = {
    CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_WS_CHANNEL_CERT: pair.cert,
    CT_EDGE_WS_CHANNEL_KEY: pair.key,
    CT_EDGE_MAX_WS_CHANNEL_CONNECTIONS: "16",
    CT_EDGE_PORTAL_HOST: portal,
    CT_EDGE_PORTAL_CERT: pair.cert,
    CT_EDGE_PORTAL_KEY: pair.key,
    CT_CP_PROXY_ADDR: `127.0.0.1:${(upstream.address() as AddressInfo).port}`
  }
  const quic = program === undefined ? {} : { CT_EDGE_QUIC: "on" }
  world = await Effect.runPromise(start({ ...variables, ...quic }, { folder }).pipe(Scope.provide(life)))
  const process =
    program === undefined ? undefined : await Effect.runPromise(processOfMembers.pipe(Scope.provide(life)))
  const byQuic = (port = 0): Members.JoinOptions => (process === undefined ? {} : { quic: { process, port } })
  carriers = {
    "front door, keepalive": { phase: 2 },
    "front door, plain": { alpn: Members.plain },
    "front door, disguised": { phase: 2, alpn: ["h2", "http/1.1"], serverName: "edge-cdn.invalid" },
    "relay port": { port: world.bound.channelRelay?.port ?? 0 },
    "relay port, marked": { phase: 1, alpn: Members.plain, port: world.bound.channelRelay?.port ?? 0 },
    "front door, WebSocket": { webSocket: atPortal("/ws/channel") },
    "WebSocket port": { webSocket: atPort("/ws/channel") },
    ...(process === undefined ? {} : { "relay port, QUIC": byQuic(world.bound.channelRelay?.port) })
  }
  met = process === undefined ? [] : [byQuic(world.bound.channelBroker?.port)]
  if (process !== undefined)
    await Effect.runPromise(untilTaken({ process, port: world.bound.channelRelay?.port ?? 0 }, world.meshRoot))
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(life, Exit.void))
  upstream.close()
})

const atPortal = (path: string, origin?: string) => ({
  url: `wss://localhost:${world.frontDoor}${path}`,
  servername: portal,
  ca: public_.root,
  ...(origin === undefined ? {} : { origin })
})
const atPort = (path: string, origin?: string) => ({
  ...atPortal(path, origin),
  url: `wss://localhost:${world.bound.channelWebSocket?.port}${path}`
})

const pair = () => {
  const channel = Members.channel()
  const members = [Members.member(channel), Members.member(channel)] as const
  Members.register(world, ...members)
  return members
}

const meet = async (first: Members.JoinOptions, second: Members.JoinOptions) => {
  const [a, b] = pair()
  const one = await Members.join(world, a, first)
  const two = await Members.join(world, b, second)
  const acks = [await Members.acknowledged(one), await Members.acknowledged(two)]
  return { one, two, acks }
}

/** The status with which a WebSocket is refused. */
const statusOf = (options: ReturnType<typeof atPortal>) =>
  new Promise<number>((resolve, reject) => {
    const { url, ...rest } = options
    const socket = new WebSocket(url, rest)
    socket.on("error", () => undefined)
    socket.once("unexpected-response", (request, response) => {
      resolve(response.statusCode ?? 0)
      request.destroy()
    })
    socket.once("open", () => {
      socket.terminate()
      reject(new Error("it was taken"))
    })
  })

describe("members meet", () => {
  it("over every pair of carriers, and their bytes are equal at both ends", async () => {
    const names = Object.keys(carriers)
    for (const [at, first] of names.entries())
      for (const second of names.slice(at)) {
        const { one, two } = await meet(carriers[first] ?? {}, carriers[second] ?? {})
        const bulk = Buffer.alloc(200_000, 0x5a)
        // A message of a WebSocket has 65,535 bytes at most.
        for (let at = 0; at < bulk.length; at += 50_000) one.send(bulk.subarray(at, at + 50_000))
        two.send(Members.ascii("back"))
        assert.isTrue((await two.take(bulk.length)).equals(bulk), `${first} to ${second}`)
        assert.strictEqual((await one.take(4)).toString(), "back", `${second} to ${first}`)
        one.socket.end()
        assert.strictEqual((await two.rest()).length, 0)
        two.socket.destroy()
      }
  })

  it("at the port of the rendezvous, which only tells them of each other", async () => {
    const port = world.bound.channelBroker?.port ?? 0
    const ways: ReadonlyArray<Members.JoinOptions> = [{ port }, { port, phase: 2 }, { phase: 1 }, ...met]
    for (const way of ways) {
      const { acks, one, two } = await meet({ port }, way)
      for (const ack of acks)
        assert.match(ack.join(" "), /^OK relay-only .* r=127\.0\.0\.1:\d+ sp=1 rs=\w+ pr=rw pe=4000000000 ln=close$/)
      assert.strictEqual((await one.rest()).length + (await two.rest()).length, 0)
    }
  })
})

describe("a WebSocket", () => {
  it("is taken from the portal's pages and from programs, and from no other page", async () => {
    const [a] = pair()
    for (const webSocket of [
      atPortal("/ws/channel", `https://${portal}`),
      atPort("/ws/channel?x", `https://${portal}:8443`)
    ])
      (await Members.join(world, a, { webSocket })).socket.destroy()
    for (const origin of ["https://stranger.example", "null", `https://${portal}.stranger.example`]) {
      assert.strictEqual(await statusOf(atPortal("/ws/channel", origin)), 403)
      assert.strictEqual(await statusOf(atPort("/ws/channel", origin)), 403)
    }
    assert.strictEqual(await statusOf(atPort("/ws/other")), 404)
    assert.strictEqual(await statusOf(atPortal("/ws/channels")), 404)
  })

  it("is no stream of texts, and ends with a message that is too long", async () => {
    const [a, b] = pair()
    const { url, ...options } = atPort("/ws/channel")
    const socket = new WebSocket(url, options)
    const ended = new Promise<number>((resolve) => socket.once("close", resolve))
    await new Promise((resolve) => socket.once("open", resolve))
    socket.send("not a byte of it")
    socket.send(Members.joinFrame(a))
    const challenge = await new Promise<Buffer>((resolve) => socket.once("message", resolve))
    assert.strictEqual(challenge.length, 32)
    assert.strictEqual((await Members.join(world, b)).ended, false)
    socket.send(Buffer.alloc(65_536))
    assert.strictEqual(await ended, 1009)
  })

  it("leaves every other request of the portal to the control plane", async () => {
    for (const path of ["/", "/ws/channe", "/ws"]) {
      const visitor = await tlsTo(world.frontDoor, public_.root, portal)
      const all = readAll(visitor)
      for (const piece of [
        `GET ${path.slice(0, 3)}`,
        `${path.slice(3)} HTTP/1.1\r\nHost: ${portal}\r\nConnection: close\r\n\r\n`
      ])
        await new Promise((resolve) => visitor.write(piece, resolve))
      assert.include((await all).toString(), `upstream ${path}`)
    }
  })

  it("is refused with 503 when there are as many as may be, and with 426 when it is none", async () => {
    const open: Array<WebSocket> = []
    const { url, ...options } = atPort("/ws/channel")
    const sockets = async () => (await world.metrics())["ct_edge_ws_channel_connections"] ?? 0
    await eventually(async () => (await sockets()) === 0, "the ones before have left")
    for (let each = 0; each < 16; each++) {
      const socket = new WebSocket(url, options)
      open.push(socket)
      await new Promise((resolve) => socket.once("open", resolve))
    }
    assert.strictEqual(await statusOf(atPort("/ws/channel")), 503)
    for (const socket of open) socket.terminate()
    const visitor = await tlsTo(world.bound.channelWebSocket?.port ?? 0, public_.root, portal)
    const all = readAll(visitor)
    visitor.write(`GET /ws/channel HTTP/1.1\r\nHost: ${portal}\r\n\r\n`)
    assert.match((await all).toString(), /^HTTP\/1\.1 426 /)
    assert.strictEqual((await world.metrics())["ct_edge_ws_channel_shed_total"], 1)
  })
})

describe("the doors of channels", () => {
  it.live("stay shut without a control plane", () =>
    Effect.gen(function* () {
      const alone = yield* start({
        CT_EDGE_CP_URL: "",
        CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
        CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0"
      })
      const { channelBroker, channelRelay, channelWebSocket } = alone.bound
      assert.deepStrictEqual([channelBroker, channelRelay, channelWebSocket], [undefined, undefined, undefined])
    }).pipe(Effect.scoped)
  )
})
