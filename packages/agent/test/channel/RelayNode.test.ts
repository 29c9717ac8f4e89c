/** A relay node: who meets whom there, and what its members cannot do. */
import * as Join from "@catenet/crypto/admission/Join"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { type Channel, farFuture, makeChannel, type Member } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { connect, type Socket } from "node:net"
import { vi } from "vitest"
import * as RelayNode from "../../src/channel/node/RelayNode.ts"
import { holdsGrant as holds } from "../../src/channel/node/RelayNode.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"

describe("a grant at a relay node", () => {
  it("holds while it is alive, and, where operators are named, by the signature of one", () => {
    const channel = makeChannel()
    const grant = Result.getOrThrow(Grant.fromHex(channel.member("accept").grant))
    assert.isTrue(holds([])(grant, 0))
    assert.isTrue(holds([new Uint8Array(32), channel.operator])(grant, 0))
    assert.isFalse(holds([makeChannel().operator])(grant, 0))
    for (const operators of [[], [channel.operator]]) {
      assert.isTrue(holds(operators)(grant, farFuture - 1n))
      assert.isFalse(holds(operators)(grant, farFuture))
    }
  })
})

/** A member that joins by hand. */
const join = async (port: number, member: Member, key = member.holderSeed) => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let received = Buffer.alloc(0)
  let isProved = false
  socket.on("error", () => {})
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    if (isProved || received.length < Possession.challengeLength || received.subarray(0, 2).equals(Buffer.from("NO")))
      return
    isProved = true
    socket.write(Possession.prove(native, Redacted.make(key), received.subarray(0, Possession.challengeLength)))
    received = received.subarray(Possession.challengeLength)
  })
  const grant = Result.getOrThrow(Grant.fromHex(member.grant))
  socket.write(Join.encode({ grant, endpoint: "relay-only", phase: "relay" }))
  return { socket, text: () => received.toString("latin1").replaceAll("\0", ""), bytes: () => received }
}
type Joined = Awaited<ReturnType<typeof join>>
const hears = (joined: Joined, pattern: RegExp) => eventually(() => pattern.test(joined.text()), String(pattern))
const isOver = (socket: Socket) => eventually(() => socket.closed || socket.readableEnded, "the connection is over")

const node = (operators: ReadonlyArray<Channel> = [], maxConnections = 64) =>
  RelayNode.make({
    listen: { host: "127.0.0.1", port: 0 },
    operators: operators.map(({ operator }) => operator),
    maxConnections
  })

describe("a relay node", () => {
  it.live("relays two members, each way to its own end, and refuses what is no member", () =>
    Effect.gen(function* () {
      const channel = makeChannel()
      const [a, b, c] = [channel.member("initiate"), channel.member("accept"), channel.member("initiate")]
      const { address, waiting } = yield* node([channel])
      yield* Effect.promise(async () => {
        const forged = await join(address.port, makeChannel().member("initiate"))
        await hears(forged, /^NO.grant-verify/s)
        const stolen = await join(address.port, a, b.holderSeed)
        await hears(stolen, /^NO\npossession/)
        const one = await join(address.port, a)
        await eventually(() => waiting() === 1, "one waits")
        const two = await join(address.port, b)
        await hears(one, /^OK relay-only rs=initiate pr=rw pe=\d+\n/)
        await hears(two, /^OK relay-only rs=accept pr=rw pe=\d+\n/)
        one.socket.end("from one")
        await hears(two, /from one$/)
        two.socket.end("from two")
        await hears(one, /from two$/)
        await isOver(one.socket)
        const left = [await join(address.port, a), await join(address.port, c)]
        await hears(left[0] as Joined, /^NO.pairing/s)
        await hears(left[1] as Joined, /^NO.pairing/s)
        const eager = await join(address.port, a)
        await eventually(() => waiting() === 1, "it waits")
        eager.socket.write("before its turn")
        await isOver(eager.socket)
        await eventually(() => waiting() === 0, "it waits no longer")
      })
      const { relayNode } = yield* AgentMetrics
      const { begun, bytes, refused } = relayNode.read?.() ?? assert.fail("it counts")
      assert.deepStrictEqual({ begun, bytes, refused }, { begun: 1, bytes: 16, refused: 4 })
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )

  it.live(
    "has a cap, ends the oldest of five places of a holder, and the session with the first grant that expires",
    () =>
      Effect.gen(function* () {
        const channel = makeChannel()
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const [a, b] = [channel.member("initiate"), channel.member("accept", { expiresAt: BigInt(now + 2) })]
        const { address, connections, waiting } = yield* node([], 6)
        yield* Effect.promise(async () => {
          const places: Array<Joined> = []
          for (let at = 1; at <= 4; at++) {
            places.push(await join(address.port, a))
            await eventually(() => waiting() === at, `${at} wait`)
          }
          places.push(await join(address.port, a))
          await hears(places[0] as Joined, /^EX$/)
          assert.strictEqual(waiting(), 4)
          places[0]?.socket.end()
          await eventually(() => connections() === 4, "the oldest is gone")
          const peer = await join(address.port, b)
          await hears(peer, /^OK /)
          const more = [await join(address.port, a), await join(address.port, a)]
          await isOver((more[1] as Joined).socket)
          await isOver(peer.socket)
          for (const { socket } of [...places, ...more]) socket.destroy()
        })
      }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )
})

describe("a slow member at a relay node", () => {
  it.effect("has 15 s for its join, waits 30 s with a NUL every 10 s, and talks with pauses below 300 s", () =>
    Effect.gen(function* () {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
      yield* Effect.addFinalizer(() => Effect.sync(() => void vi.useRealTimers()))
      const channel = makeChannel()
      const [a, b] = [channel.member("initiate"), channel.member("accept")]
      const { address, connections, waiting } = yield* node([channel])
      const dial = async () => connect({ port: address.port, host: "127.0.0.1" }).on("error", () => {})
      const mute = yield* Effect.promise(dial)
      yield* Effect.promise(() => eventually(() => connections() === 1, "it is there"))
      yield* TestClock.adjust(14_999)
      const waits = yield* Effect.promise(() => join(address.port, a))
      yield* Effect.promise(() => eventually(() => waiting() === 1, "one waits"))
      assert.isFalse(mute.resume().readableEnded)
      yield* TestClock.adjust(1)
      yield* Effect.promise(() => isOver(mute))
      yield* TestClock.adjust(9_998)
      assert.strictEqual(waits.bytes().length, 0, "no NUL before ten seconds")
      yield* TestClock.adjust(20_001 - 9_998)
      yield* Effect.promise(() => eventually(() => waits.bytes().equals(Buffer.of(0, 0)), "two NULs"))
      yield* TestClock.adjust(9_000)
      assert.strictEqual(waiting(), 1)
      yield* TestClock.adjust(999)
      yield* Effect.promise(() => hears(waits, /^EX$/))
      yield* TestClock.adjust(1_999)
      assert.strictEqual(connections(), 1, "it does not end its side")
      yield* TestClock.adjust(1)
      yield* Effect.promise(() => eventually(() => connections() === 0, "it is gone"))
      const pair = yield* Effect.promise(() => Promise.all([join(address.port, a), join(address.port, b)]))
      yield* Effect.promise(() => Promise.all(pair.map((each) => hears(each, /^OK .*\n/))))
      const says = (word: string) =>
        Effect.promise(async () => {
          pair[0].socket.write(word)
          await hears(pair[1], new RegExp(`${word}$`))
        })
      yield* says("first")
      vi.advanceTimersByTime(299_999)
      yield* says("second")
      vi.advanceTimersByTime(375_000)
      yield* Effect.promise(() => Promise.all(pair.map(({ socket }) => isOver(socket))))
      yield* Effect.promise(() => eventually(() => connections() === 0, "all are gone"))
      const { relayNode } = yield* AgentMetrics
      assert.deepStrictEqual(relayNode.read?.(), {
        connections: 0,
        waiting: 0,
        sessions: 0,
        begun: 1,
        bytes: "first".length + "second".length,
        refused: 0,
        expired: 1,
        shed: 0
      })
    }).pipe(Effect.scoped, Effect.provide(AgentMetrics.layer))
  )
})
