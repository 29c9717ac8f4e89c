/**
 * Every bound on a slow member at a real edge whose clock is the test's: a moment before it, and at it.
 * One file, since all bounds are held at one clock, with the same members and the same relay nodes.
 */
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { vi } from "vitest"

const refusal = (token: string) => `NO${String.fromCharCode(token.length)}${token}`
const identity = "node"
const atGate = { alpn: ["ct-edge-relay"] }

/** An edge at the present time, which only passes when the test says so. */
const atTestTime = (variables: Record<string, string> = {}) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(yield* TestClock.withLive(Clock.currentTimeMillis))
    return yield* start(variables)
  })

const behindGate = (port: number) => ({
  CT_EDGE_RELAY_UPSTREAM: `127.0.0.1:${port}`,
  CT_EDGE_RELAY_NODE_PEER: identity
})

const registered = (world: TestEdge) => {
  const member = Members.member(Members.channel())
  Members.register(world, member)
  return member
}

/** Connections on which nothing was said, whose time has begun: the edge answers a later one. */
const silent = async (world: TestEdge, options: Members.JoinOptions, count: number) => {
  const peers = await Promise.all(Array.from({ length: count }, () => Members.dial(world, options)))
  const later = await Members.dial(world)
  later.send(Members.u16(0))
  assert.strictEqual((await later.rest()).toString("latin1"), refusal("len-oob"))
  return peers
}

const parked = (world: TestEdge, count: number) =>
  Effect.promise(() =>
    eventually(async () => (await world.metrics())["ct_edge_channel_parked"] === count, `${count} members wait`)
  )

const heard = (peer: Members.Peer) => Effect.promise(async () => (await peer.rest()).toString("latin1"))

/** What asks for a WebSocket, and a binary message of it whose mask changes nothing. */
const upgrade =
  "GET /ws/channel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
const message = (bytes: Uint8Array) =>
  Buffer.concat([
    bytes.length < 126 ? Buffer.of(0x82, 0x80 | bytes.length) : Buffer.of(0x82, 0xfe, 0, bytes.length),
    Buffer.alloc(4),
    bytes
  ])

/** A relay node that sends back what it hears. */
const echoing = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((socket) => socket.on("error", () => undefined).pipe(socket))
    await once(server.listen(0, "127.0.0.1"), "listening")
    return server
  }),
  (server) => Effect.sync(() => void server.close())
)

/** A port whose connections wait for ever: nothing takes them, and no more of them are queued. */
const blackHole = Effect.acquireRelease(
  Effect.promise(async () => {
    const script = `const server = require("node:net").createServer()
      server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
        process.stdout.write(String(server.address().port), () => process.kill(process.pid, "SIGSTOP"))
      })`
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] })
    const [said] = await once(child.stdout, "data")
    const port = Number(String(said))
    const filling = Array.from({ length: 4 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => undefined))
    return { port, end: () => filling.forEach((socket) => socket.destroy()), child }
  }),
  ({ child, end }) =>
    Effect.sync(() => {
      end()
      child.kill("SIGKILL")
    })
)

describe.concurrent("a slow member", () => {
  const carriers = ["the front door", "the relay port", "a WebSocket"] as const
  it.effect("has 15 s for its join, from the first byte to the signature, however it came", () =>
    Effect.gen(function* () {
      const world = yield* atTestTime({
        CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
        CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0"
      })
      const ways: Readonly<Record<(typeof carriers)[number], Members.JoinOptions>> = {
        "the front door": {},
        "the relay port": { port: world.bound.channelRelay?.port ?? 0 },
        "a WebSocket": {
          webSocket: { url: `ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`, ca: world.meshRoot }
        }
      }
      for (const [index, name] of carriers.entries()) {
        const member = registered(world)
        const [mute, ...others] = yield* Effect.promise(() => silent(world, ways[name], 3))
        const [early, late] = others as [Members.Peer, Members.Peer]
        const challenge = yield* Effect.promise(async () => {
          for (const peer of [early, late]) peer.send(Members.joinFrame(member))
          await late.take(32)
          return early.take(32)
        })
        yield* TestClock.adjust(14_999)
        early.send(Members.answer(member, challenge))
        yield* parked(world, index + 1)
        yield* TestClock.adjust(1)
        assert.deepStrictEqual([yield* heard(mute!), yield* heard(late)], ["", ""], name)
        assert.isFalse(early.ended, name)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has 15 s for the HTTP head that asks for its WebSocket", () =>
    Effect.gen(function* () {
      const world = yield* atTestTime({ CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0" })
      const port = world.bound.channelWebSocket?.port ?? 0
      const url = `ws://127.0.0.1:${port}/ws/channel`
      const slow = yield* Effect.promise(() =>
        Promise.all(
          ["", "GET /ws/chan"].map(async (text) => {
            const socket = connect({ port, host: "127.0.0.1" })
              .on("error", () => undefined)
              .resume()
            await once(socket, "connect")
            if (text !== "") socket.write(text)
            return socket
          })
        )
      )
      // Those before it have been accepted when it is answered.
      const joined = yield* Effect.promise(() => silent(world, { webSocket: { url, ca: world.meshRoot } }, 1))
      const ended = slow.map((socket) => once(socket, "close"))
      yield* TestClock.adjust(14_999)
      assert.deepStrictEqual(
        slow.map(({ closed }) => closed),
        [false, false]
      )
      assert.isFalse(joined[0]?.ended)
      yield* TestClock.adjust(1)
      yield* Effect.promise(() => Promise.all(ended))
    }).pipe(Effect.scoped)
  )

  it.effect("has 15 s for each step at the gate of a relay node", () =>
    Effect.gen(function* () {
      const node = yield* echoing
      const world = yield* atTestTime(behindGate((node.address() as AddressInfo).port))
      const member = registered(world)
      const peers = yield* Effect.promise(() => silent(world, atGate, 3))
      const [mute, early, late] = peers as [Members.Peer, Members.Peer, Members.Peer]
      yield* TestClock.adjust(14_999)
      const challenge = yield* Effect.promise(async () => {
        for (const peer of [early, late]) peer.send(member.grant)
        await late.take(32)
        return early.take(32)
      })
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* heard(mute), "")
      yield* TestClock.adjust(14_998)
      early.send(Members.answer(member, challenge))
      const reply = yield* Effect.promise(() => early.take(4 + identity.length))
      assert.strictEqual(reply.toString("latin1"), `OK\0\u0004${identity}`)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* heard(late), "")
      early.socket.destroy()
    }).pipe(Effect.scoped)
  )

  it.effect.skipIf(process.platform !== "linux")("waits 10 s for a relay node that does not answer", () =>
    Effect.gen(function* () {
      const { port } = yield* blackHole
      const world = yield* atTestTime(behindGate(port))
      const member = registered(world)
      const peer = yield* Effect.promise(async () => {
        const peer = await Members.dial(world, atGate)
        peer.send(member.grant)
        peer.send(Members.answer(member, await peer.take(32)))
        return peer
      })
      let waited = 0
      while (!peer.ended) {
        yield* TestClock.adjust(100)
        waited += 100
        // One turn through the edge and back, in which the connection may end.
        yield* Effect.promise(() => world.metrics())
      }
      assert.strictEqual(yield* heard(peer), refusal("unavailable"))
      assert.isTrue(waited >= 10_000 && waited <= 11_000, `after ${waited} ms`)
    }).pipe(Effect.scoped)
  )

  it.effect("is asked about for 10 s, and comes again later when there is no answer", () =>
    Effect.gen(function* () {
      const world = yield* atTestTime()
      const member = registered(world)
      world.controlPlane.silent = true
      const peer = yield* Effect.promise(() => Members.dial(world))
      const asked = () => world.controlPlane.requests.filter((path) => path.includes("channel/authorize")).length
      peer.send(Members.joinFrame(member))
      yield* Effect.promise(() => eventually(() => asked() > 0, "the control plane is asked"))
      yield* TestClock.adjust(9_999)
      yield* Effect.promise(() => world.metrics())
      assert.isFalse(peer.ended)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* heard(peer), refusal("unavailable"))
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("a member that waits", () => {
  it.effect("hears EX after 30 s on a plain leg, and after its own time and a NUL every 10 s on a keepalive leg", () =>
    Effect.gen(function* () {
      const world = yield* atTestTime({ CT_EDGE_KA_PARK_TTL_SECS: "45" })
      const plain = yield* Effect.promise(() => Members.join(world, registered(world), { alpn: Members.plain }))
      const kept = yield* Effect.promise(() => Members.join(world, registered(world)))
      yield* parked(world, 2)
      yield* TestClock.adjust(9_999)
      yield* Effect.promise(() => world.metrics())
      assert.strictEqual(kept.held, 0, "no NUL before ten seconds")
      yield* TestClock.adjust(1_001)
      assert.deepStrictEqual([...(yield* Effect.promise(() => kept.take(1)))], [0])
      yield* TestClock.adjust(18_999)
      yield* parked(world, 2)
      assert.isFalse(plain.ended)
      yield* TestClock.adjust(1_001)
      assert.strictEqual(yield* heard(plain), "EX")
      yield* TestClock.adjust(13_999)
      yield* parked(world, 1)
      assert.isFalse(kept.ended)
      yield* TestClock.adjust(1_001)
      assert.strictEqual(yield* heard(kept), "\0\0\0EX")
    }).pipe(Effect.scoped)
  )
})

describe("a member by WebSocket", () => {
  it.effect("is gone when it leaves a ping unanswered for 30 s", () =>
    Effect.gen(function* () {
      const world = yield* atTestTime({ CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0" })
      const channel = Members.channel()
      const [member, other] = [Members.member(channel), Members.member(channel)]
      Members.register(world, member, other)
      const { port } = world.bound.channelWebSocket ?? { port: 0 }
      const [dumb, peer] = yield* Effect.promise(async () => {
        const dumb = new Members.Peer(connect({ port, host: "127.0.0.1" }))
        dumb.send(Members.ascii(upgrade))
        const response = await dumb.take(12)
        assert.strictEqual(response.toString(), "HTTP/1.1 101")
        while (!(await dumb.take(1)).equals(Members.ascii("\n")) || !(await dumb.take(1)).equals(Members.ascii("\r")));
        await dumb.take(1)
        dumb.send(message(Members.joinFrame(member)))
        await dumb.take(2)
        dumb.send(message(Members.answer(member, await dumb.take(32))))
        const peer = await Members.join(world, other)
        await Members.acknowledged(peer)
        await dumb.take((await dumb.take(4)).readUInt16BE(2))
        return [dumb, peer] as const
      })
      yield* TestClock.adjust(29_999)
      yield* Effect.promise(() => world.metrics())
      assert.strictEqual(dumb.held, 0, "no ping before 30 s")
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([...(yield* Effect.promise(() => dumb.take(2)))], [0x89, 0])
      yield* TestClock.adjust(29_999)
      yield* Effect.promise(() => world.metrics())
      assert.isFalse(dumb.ended || peer.ended)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([yield* heard(dumb), yield* heard(peer)], ["", ""])
    }).pipe(Effect.scoped)
  )
})

describe("a session with a relay node", () => {
  it.effect("ends when nothing was said for 300 s, and not before", () =>
    Effect.gen(function* () {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
      yield* Effect.addFinalizer(() => Effect.sync(() => void vi.useRealTimers()))
      const node = yield* echoing
      const world = yield* atTestTime(behindGate((node.address() as AddressInfo).port))
      const member = registered(world)
      const peer = yield* Effect.promise(async () => {
        const peer = await Members.dial(world, atGate)
        peer.send(member.grant)
        peer.send(Members.answer(member, await peer.take(32)))
        await peer.take(4 + identity.length)
        return peer
      })
      const echo = async () => {
        peer.send(Members.ascii("x"))
        assert.strictEqual((await peer.take(1)).toString(), "x")
      }
      yield* Effect.promise(echo)
      vi.advanceTimersByTime(299_999)
      yield* Effect.promise(echo)
      vi.advanceTimersByTime(299_999)
      yield* Effect.promise(echo)
      vi.advanceTimersByTime(375_000)
      assert.strictEqual(yield* heard(peer), "")
    }).pipe(Effect.scoped)
  )
})
