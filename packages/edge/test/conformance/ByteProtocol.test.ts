/**
 * The byte protocol of data-plane sections 5 and 17.1, played by a peer that knows nothing but the written bytes: no codec
 * of ours is used here.
 */
import { adminToken } from "@catenet/testing/edge/ControlPlane"
import { Peer } from "@catenet/testing/edge/Peer"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect as connectTcp } from "node:net"
import { connect, TLSSocket } from "node:tls"

const T = token("1")
const tunnelHost = "app.zone.test"
const routing = Buffer.from(T, "hex")

const u16 = (value: number) => Buffer.of(value >> 8, value & 0xff)
const u32 = (value: number) => Buffer.of(0, value >> 16, (value >> 8) & 0xff, value & 0xff)
const u64 = (value: number) => Buffer.from([0, 0, 0, 0, 0, 0, value >> 8, value & 0xff])
const ascii = (text: string) => Buffer.from(text, "latin1")
const host = (name: string) => [u16(name.length), ascii(name)]

const promise = <A>(run: () => Promise<A>) => Effect.promise(run)

/** A visitor of the host; what it hears until the end. */
const visitor = async (world: TestEdge) => {
  const peer = await new Promise<Peer>((resolve, reject) => {
    const raw = connectTcp({ host: "127.0.0.1", port: world.frontDoor, allowHalfOpen: true, noDelay: true })
    const socket: TLSSocket = connect({ socket: raw, servername: tunnelHost, ca: world.wildcardRoot }, () =>
      resolve(new Peer(socket))
    )
    socket.once("error", reject)
  })
  return peer
}

const admitted = async (world: TestEdge, ...body: ReadonlyArray<Uint8Array | number>) => {
  const peer = await Peer.to(world.mesh, world.meshRoot)
  peer.send(...body)
  assert.strictEqual((await peer.take(2)).toString(), "OK")
  return peer
}

const startGelb = (variables: Record<string, string> = {}) =>
  Effect.tap(start(variables), (world) => promise(() => world.authorize(T, tunnelHost, "gelb")))

describe.concurrent("a slot with park ping (L)", () => {
  it.live("is pinged, gets STOP once, then the visitor's first byte, and half-closes both ways", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const agent = yield* promise(() => admitted(world, 0x4c, routing, ...host(tunnelHost)))
      const browser = yield* promise(() => visitor(world))
      browser.send(0x00, ascii("hello"))
      const ping = yield* promise(() => agent.take(9))
      assert.deepStrictEqual(ping, Buffer.concat([Buffer.of(0xf9), u64(0)]))
      agent.send(0xfa, u64(0))
      assert.deepStrictEqual(yield* promise(() => agent.take(1)), Buffer.of(0xfb))
      assert.deepStrictEqual(yield* promise(() => agent.take(6)), Buffer.concat([Buffer.of(0), ascii("hello")]))
      browser.socket.end()
      yield* promise(() => eventually(() => agent.ended, "the end of the visitor's half arrives"))
      agent.send(ascii("late answer"))
      agent.socket.end()
      assert.strictEqual((yield* promise(() => browser.rest())).toString(), "late answer")
    }).pipe(Effect.scoped)
  )

  it.live("is pinged after eight seconds, and again before a visitor, with a rising counter", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const agent = yield* promise(() => admitted(world, 0x4c, routing, ...host(tunnelHost)))
      const before = performance.now()
      assert.deepStrictEqual(yield* promise(() => agent.take(9)), Buffer.concat([Buffer.of(0xf9), u64(0)]))
      const pause = performance.now() - before
      assert.isAbove(pause, 7_000)
      assert.isBelow(pause, onThisMachine(15_000))
      agent.send(0xfa, u64(0))
      const browser = yield* promise(() => visitor(world))
      browser.send(0x00)
      assert.deepStrictEqual(yield* promise(() => agent.take(9)), Buffer.concat([Buffer.of(0xf9), u64(1)]))
      agent.send(0xfa, u64(1))
      assert.deepStrictEqual(yield* promise(() => agent.take(2)), Buffer.of(0xfb, 0x00))
      agent.socket.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("that answers with a wrong counter is closed, and the visitor goes to the next slot", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const bad = yield* promise(() => admitted(world, 0x4c, routing, ...host(tunnelHost)))
      const good = yield* promise(() => admitted(world, 0x4c, routing, ...host(tunnelHost)))
      const browser = yield* promise(() => visitor(world))
      browser.send(0x00)
      yield* promise(() => bad.take(9))
      bad.send(0x42, u64(0))
      yield* promise(() => good.take(9))
      good.send(0xfa, u64(0))
      assert.deepStrictEqual(yield* promise(() => good.take(2)), Buffer.of(0xfb, 0x00))
      yield* promise(() => bad.rest())
      browser.socket.destroy()
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("a silent slot (B)", () => {
  it.live("begins with the visitor's first byte, without any marker, on the front door too", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const agent = yield* promise(() => Peer.to(world.frontDoor, world.meshRoot, ["ct-edge"]))
      assert.isFalse(agent.socket instanceof TLSSocket && agent.socket.alpnProtocol)
      agent.send(0x42, routing, ...host(tunnelHost))
      assert.strictEqual((yield* promise(() => agent.take(2))).toString(), "OK")
      const browser = yield* promise(() => visitor(world))
      browser.send(0x01, ascii("first"))
      assert.deepStrictEqual(yield* promise(() => agent.take(6)), Buffer.concat([Buffer.of(1), ascii("first")]))
      agent.socket.destroy()
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("a framed slot (F)", () => {
  it.live("carries data, acknowledges keepalives and signals half-close by FIN", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const agent = yield* promise(() => admitted(world, 0x46, routing, ...host(tunnelHost)))
      const browser = yield* promise(() => visitor(world))
      browser.send(0x00, ascii("up"))
      yield* promise(() => agent.take(9))
      agent.send(0xfa, u64(0))
      assert.deepStrictEqual(yield* promise(() => agent.take(1)), Buffer.of(0xfb))
      assert.deepStrictEqual(
        yield* promise(() => agent.take(8)),
        Buffer.concat([Buffer.of(0xfc), u32(3), Buffer.of(0), ascii("up")])
      )
      agent.send(0xfd, u64(7))
      assert.deepStrictEqual(yield* promise(() => agent.take(9)), Buffer.concat([Buffer.of(0xf8), u64(7)]))
      agent.send(0xfc, u32(0), 0xfc, u32(4), ascii("down"), 0xfe)
      assert.strictEqual((yield* promise(() => browser.rest())).toString(), "down")
      browser.socket.end()
      assert.deepStrictEqual(yield* promise(() => agent.take(1)), Buffer.of(0xfe))
    }).pipe(Effect.scoped)
  )

  it.live("that breaks the framing is cut", () =>
    Effect.gen(function* () {
      for (const wrong of [[0xf9], [0x00], [0xfe, 0xfe], [0xfe, 0xfc, ...u32(1), 1], [0xfc, 0xff, 0xff, 0xff, 0xff]]) {
        const world = yield* startGelb()
        const agent = yield* promise(() => admitted(world, 0x46, routing, ...host(tunnelHost)))
        const browser = yield* promise(() => visitor(world))
        browser.send(0x00)
        yield* promise(() => agent.take(9))
        agent.send(0xfa, u64(0))
        yield* promise(() => agent.take(7))
        agent.send(Buffer.from(wrong))
        yield* promise(() => agent.rest())
        yield* promise(() => browser.rest())
      }
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("admission", () => {
  it.live("answers OK and NO in two bytes and closes on anything else without an answer", () =>
    Effect.gen(function* () {
      const world = yield* startGelb({ CT_EDGE_MESH_RELAY_ENABLED: "1" })
      const stranger = Buffer.from(token("2"), "hex")
      const revoked = Buffer.from(token("3"), "hex")
      yield* promise(() => world.admin("POST", `/admin/revoke/${token("3")}`))
      const admin = Buffer.from(adminToken, "hex")
      const long = "a".repeat(254)
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<Uint8Array | number>, string]> = [
        ["A with an unknown token", [0x41, stranger], "OK"],
        ["K", [0x4b, stranger], "OK"],
        ["A with a revoked token", [0x41, revoked], "NO"],
        ["K with a revoked token", [0x4b, revoked], "NO"],
        ["B for its host", [0x42, routing, ...host(tunnelHost)], "OK"],
        ["B in another spelling", [0x42, routing, ...host("APP.Zone.test.")], "OK"],
        ["L for another's host", [0x4c, stranger, ...host(tunnelHost)], "NO"],
        ["F for an unknown host", [0x46, routing, ...host("unknown.test")], "NO"],
        ["L with a revoked token", [0x4c, revoked, ...host(tunnelHost)], "NO"],
        ["L for no host name", [0x4c, routing, ...host("-bad-")], "NO"],
        ["M with a wrong token", [0x4d, stranger, ...host(tunnelHost)], "NO"],
        ["M for an unknown host", [0x4d, admin, ...host("unknown.test")], "NO"],
        ["M", [0x4d, admin, ...host(tunnelHost)], "OK"],
        ["host length 0", [0x4c, routing, ...host("")], ""],
        ["host length 254", [0x4c, routing, ...host(long)], ""],
        ["host that is not UTF-8", [0x4c, routing, u16(2), Buffer.of(0xc3, 0x28)], ""],
        ["an unknown role", [0x5a, routing], ""],
        ["the role of a control plane over QUIC", [0x52, admin, routing], ""]
      ]
      for (const [name, frame, reply] of cases) {
        const peer = yield* promise(() => Peer.to(world.mesh, world.meshRoot))
        peer.send(...frame)
        assert.strictEqual((yield* promise(() => peer.take(2))).toString(), reply, name)
        if (reply !== "OK") assert.strictEqual((yield* promise(() => peer.rest())).length, 0, name)
        peer.socket.destroy()
      }
    }).pipe(Effect.scoped)
  )

  it.live("takes a frame in single bytes, and gives up after ten seconds of silence", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const slow = yield* promise(() => Peer.to(world.mesh, world.meshRoot))
      for (const byte of Buffer.concat([Buffer.of(0x4c), routing, ...host(tunnelHost)])) slow.send(byte)
      assert.strictEqual((yield* promise(() => slow.take(2))).toString(), "OK")
      const before = performance.now()
      const silent = yield* promise(() => Peer.to(world.mesh, world.meshRoot))
      silent.send(0x4c, routing.subarray(0, 10))
      assert.strictEqual((yield* promise(() => silent.rest())).length, 0)
      const patience = performance.now() - before
      assert.isAbove(patience, 8_500)
      assert.isBelow(patience, onThisMachine(20_000))
    }).pipe(Effect.scoped)
  )

  it.live("answers NO right after the token when there is no room, before the host arrives", () =>
    Effect.gen(function* () {
      const world = yield* startGelb({ CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "1" })
      yield* promise(() => admitted(world, 0x4b, routing))
      const second = yield* promise(() => Peer.to(world.mesh, world.meshRoot))
      second.send(0x4c, routing)
      assert.strictEqual((yield* promise(() => second.rest())).toString(), "NO")
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("revocation", () => {
  it.live("closes parked slots and both sides of a running relay", () =>
    Effect.gen(function* () {
      const world = yield* startGelb()
      const serving = yield* promise(() => admitted(world, 0x42, routing, ...host(tunnelHost)))
      const browser = yield* promise(() => visitor(world))
      browser.send(0x00)
      yield* promise(() => serving.take(1))
      const parked = yield* promise(() => admitted(world, 0x4c, routing, ...host(tunnelHost)))
      yield* promise(() => world.admin("POST", `/admin/revoke/${T}`))
      for (const side of [serving, browser, parked]) yield* promise(() => side.rest())
    }).pipe(Effect.scoped)
  )
})
