/**
 * A session that moves from the relay to a direct link, or stays where it is: no byte is lost, and the edge can still end it.
 * One file, since all cases move a session between the same two members.
 */
import { native } from "@catenet/crypto/native"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually, untilSuccess } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { UdpLink } from "@catenet/testing/wire/quic/UdpLink"
import { readToEnd } from "@catenet/testing/wire/ReadToEnd"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { networkInterfaces } from "node:os"
import { QuicDial } from "../../src/carrier/QuicDial.ts"
import * as DirectPath from "../../src/channel/session/DirectPath.ts"
import * as DirectUpgrade from "../../src/channel/session/DirectUpgrade.ts"
import * as KeyProof from "../../src/channel/session/KeyProof.ts"
import { TaggedStream } from "../../src/channel/session/TaggedStream.ts"
import { NoiseStream } from "../../src/mesh/NoiseStream.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { parseHostPort } from "../../src/settings/HostPort.ts"
import { noQuic } from "../harness/QuicEdge.ts"

const layer = Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)
const keyPair = () => native.x25519.keyPair(new Uint8Array(randomBytes(32)))

/** A relay as an edge has one: what it cuts is cut at both. */
const relay = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets: Array<Socket> = []
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on("error", () => {})
      sockets.push(socket)
      const [a, b] = sockets
      if (a === undefined || b === undefined) return
      a.pipe(b)
      b.pipe(a)
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const join = async () => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
      socket.on("error", () => {})
      await once(socket, "connect")
      return socket
    }
    const legs = [await join(), await join()] as const
    const cut = () => {
      for (const socket of sockets) socket.resetAndDestroy()
    }
    return { legs, cut, carried: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0), server }
  }),
  ({ cut, server }) =>
    Effect.sync(() => {
      cut()
      server.close()
    })
)

const here: DirectUpgrade.Reachability = {
  listen: { host: "127.0.0.1", offer: (port) => `127.0.0.1:${port}` },
  choose: (endpoint) => parseHostPort(endpoint)
}
const nowhere: DirectUpgrade.Reachability = { listen: undefined, choose: () => undefined }

/** Two members in a session through a relay, both of which would move. */
const meet = Effect.gen(function* () {
  const through = yield* relay
  const [a, b] = [keyPair(), keyPair()]
  const [one, two] = yield* Effect.all(
    [
      KeyProof.proveAndAsk(through.legs[0], a, b.publicKey, true),
      KeyProof.proveAndAsk(through.legs[1], b, a.publicKey, false)
    ],
    { concurrency: 2 }
  )
  if (!(one instanceof TaggedStream) || !(two instanceof TaggedStream)) return assert.fail("not tagged")
  const ofOne = { stream: one, noise: a, peerKey: b.publicKey, isInitiator: true }
  const ofTwo = { stream: two, noise: b, peerKey: a.publicKey, isInitiator: false }
  const movers = (first: DirectUpgrade.Reachability, second = first) =>
    Effect.all(
      [
        DirectUpgrade.attempt({ ...ofOne, reachability: first }),
        DirectUpgrade.attempt({ ...ofTwo, reachability: second })
      ],
      { concurrency: 2 }
    )
  return { one, two, movers, ...through }
})

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

describe("a session that moves to a direct link", () => {
  it.live("loses and doubles no byte in either direction, whenever that is", () =>
    Effect.gen(function* () {
      for (const before of [0, 1, 70_000]) {
        const { carried, movers, one, two } = yield* meet
        const sent = [randomBytes(900_000), randomBytes(900_000)] as const
        const received = Promise.all([readToEnd(two), readToEnd(one)])
        one.write(sent[0].subarray(0, before))
        two.write(sent[1].subarray(0, before))
        const moving = yield* Effect.forkScoped(movers(here))
        one.write(sent[0].subarray(before, before + 100_000))
        const [first, second] = yield* Fiber.join(moving)
        assert.isTrue(Option.isSome(first) && Option.isSome(second))
        const relayed = carried()
        one.end(sent[0].subarray(before + 100_000))
        two.end(sent[1].subarray(before))
        const [atTwo, atOne] = yield* Effect.promise(() => received)
        assert.deepStrictEqual([digest(atTwo), digest(atOne)], [digest(sent[0]), digest(sent[1])])
        assert.isTrue(one.hasMoved && two.hasMoved)
        assert.isBelow(carried() - relayed, 150_000, "what follows does not go through the relay")
        yield* Effect.promise(() => eventually(() => one.closed && two.closed, "both are over"))
        assert.isNull(one.errored ?? two.errored)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live.skipIf(noQuic)("moves by QUIC where TCP does not come through", () =>
    Effect.gen(function* () {
      const { movers, one, two } = yield* meet
      // Both processes are up, so that the steps have all of their time.
      const { dial } = yield* QuicDial
      const { address } = yield* DirectPath.listen({ host: "127.0.0.1", port: 0 })
      ;(yield* untilSuccess(dial({ ...address, roots: undefined }))).close()
      const link = yield* Effect.acquireRelease(
        Effect.promise(() => UdpLink.open(0)),
        (made) => Effect.promise(() => made[Symbol.asyncDispose]())
      )
      const offering = {
        ...here,
        listen: {
          host: "127.0.0.1",
          offer: (port: number) => {
            link.leadsTo(port)
            return `127.0.0.1:${link.port}`
          }
        }
      }
      const sent = randomBytes(400_000)
      const received = readToEnd(two)
      one.write(sent.subarray(0, 100_000))
      const [first, second] = yield* movers(offering, here)
      for (const moved of [first, second])
        assert.strictEqual(DirectPath.carrierOf(Option.getOrThrow(moved).socket), "direct-quic")
      one.end(sent.subarray(100_000))
      two.end()
      one.resume()
      assert.strictEqual(digest(yield* Effect.promise(() => received)), digest(sent))
      assert.isAbove(link.sent, 0)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(layer, QuicDial.layer)))
  )

  it.live("ends within a second when the edge cuts the relay", () =>
    Effect.gen(function* () {
      const { cut, movers, one, two } = yield* meet
      yield* movers(here)
      const heard = once(two, "data")
      one.write("by the direct link")
      assert.strictEqual(String((yield* Effect.promise(() => heard))[0]), "by the direct link")
      one.resume()
      cut()
      const before = yield* Clock.currentTimeMillis
      yield* Effect.promise(() => eventually(() => one.destroyed && two.destroyed, "both ends are cut"))
      assert.isBelow((yield* Clock.currentTimeMillis) - before, onThisMachine(1_000))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  for (const where of ["on the relay", "on the direct link"] as const)
    it.live(`tells the end of a peer that marks it from its death, ${where}`, () =>
      Effect.gen(function* () {
        for (const how of ["end", "death"] as const) {
          const { legs, movers, one, two } = yield* meet
          one.markEnd()
          two.markEnd()
          const received = readToEnd(two).catch((error: Error) => error)
          one.resume()
          one.write("first")
          const [moved] = where === "on the relay" ? [Option.none()] : yield* movers(here)
          one.write(", last")
          if (how === "end") for (const stream of [one, two]) stream.end()
          else {
            yield* Effect.promise(() => eventually(() => one.writableLength === 0, "its bytes are on their way"))
            // All that the kernel says of a process that is killed.
            Option.match(moved, { onNone: () => legs[0], onSome: ({ socket }) => socket }).end()
          }
          const seen = yield* Effect.promise(() => received)
          if (how === "end") assert.strictEqual(String(seen), "first, last")
          else assert.include(String(seen), "the peer went away before it had ended")
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

  it.live("stays on the relay when there is no candidate, nothing listens, or the peer would not move", () =>
    Effect.gen(function* () {
      const closed: DirectUpgrade.Reachability = { ...here, choose: () => ({ host: "127.0.0.1", port: 1 }) }
      for (const [first, second] of [
        [here, nowhere],
        [here, closed],
        [nowhere, here]
      ] as const) {
        const { movers, one, two } = yield* meet
        const moving = yield* Effect.forkScoped(movers(first, second))
        const [received, answer] = [readToEnd(two), readToEnd(one)]
        one.end("still here")
        two.end("here, too")
        assert.strictEqual(String(yield* Effect.promise(() => received)), "still here")
        assert.strictEqual(String(yield* Effect.promise(() => answer)), "here, too")
        yield* Fiber.interrupt(moving)
      }
      const { legs } = yield* relay
      const [a, b] = [keyPair(), keyPair()]
      const [one, two] = yield* Effect.all(
        [KeyProof.proveAndAsk(legs[0], a, b.publicKey, true), KeyProof.prove(legs[1], b, a.publicKey, false)],
        { concurrency: 2 }
      )
      assert.instanceOf(one, NoiseStream)
      const heard = once(two, "data")
      one.write("plain")
      assert.strictEqual(String((yield* Effect.promise(() => heard))[0]), "plain")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("hears a peer that moves before this side has the link in its hands, and ends where it never gets it", () =>
    Effect.gen(function* () {
      for (const at of ["no attempt", "an attempt that fails", "an attempt that succeeds"] as const) {
        const { legs, one, two } = yield* meet
        const elsewhere = yield* relay
        const [a, b] = [keyPair(), keyPair()]
        const [ofTwo, ofOne] = yield* Effect.all(
          [
            KeyProof.prove(elsewhere.legs[0], a, b.publicKey, true),
            KeyProof.prove(elsewhere.legs[1], b, a.publicKey, false)
          ],
          { concurrency: 2 }
        )
        if (at !== "no attempt") one.onControl(() => {})
        const heard = once(one, "data").catch((error: Error) => error)
        two.attach(ofTwo)
        const before = legs[0].bytesRead
        two.cutOver()
        two.write("by the direct link")
        if (at !== "no attempt") {
          yield* Effect.promise(() => eventually(() => legs[0].bytesRead > before, "the cutover has arrived"))
          assert.isFalse(one.destroyed)
        }
        if (at === "an attempt that succeeds") one.attach(ofOne)
        one.onControl(undefined)
        if (at === "an attempt that succeeds")
          assert.strictEqual(String(yield* Effect.promise(() => heard)), "by the direct link")
        else yield* Effect.promise(() => eventually(() => one.destroyed, "it is cut"))
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("the address that a member offers", () => {
  const offer = (own: string, observed: string) => DirectUpgrade.of(own, observed).listen?.offer(7)
  it("is its own global one without a NAT in between, or one of its own network, and no other", () => {
    assert.strictEqual(offer("203.0.113.7", "203.0.113.7:55"), "203.0.113.7:7")
    assert.strictEqual(offer("192.168.1.5", "203.0.113.7:55"), "\u0000192.168.1.5:7")
    assert.isUndefined(offer("203.0.113.7", "203.0.113.8:55"))
    assert.isUndefined(offer("127.0.0.1", "127.0.0.1:55"))
    assert.isUndefined(DirectUpgrade.of(undefined, "203.0.113.7:55").listen)
  })

  it("is dialled on the own network, or where it is global", () => {
    const choose = (endpoint: string, own = "192.168.1.9") => DirectUpgrade.of(own, undefined).choose(endpoint)
    assert.deepStrictEqual(choose("\u0000192.168.1.5:7"), { host: "192.168.1.5", port: 7 })
    assert.deepStrictEqual(choose("203.0.113.7:7\u000010.0.0.1:7"), { host: "203.0.113.7", port: 7 })
    for (const endpoint of ["\u000010.0.0.1:7", "127.0.0.1:7", "192.168.1.5:7", "203.0.113.7:0", "\u0000", "name:7"])
      assert.isUndefined(choose(endpoint), endpoint)
  })
})

/** An address of this machine that its members reach. */
const lan = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(
    ({ address, family }) => family === "IPv4" && DirectUpgrade.of(address, `${address}:1`).listen !== undefined
  )?.address

describe("two members that would move", () => {
  const stage = async (host: string) => {
    const authority = makeAuthority()
    const channel = makeChannel()
    const members = [channel.member("initiate"), channel.member("accept")] as const
    const script = { authority, channel, members, host }
    const broker = await startBroker(script)
    const home = await makeHome()
    const env = (at: 0 | 1) => ({ ...throughFrontDoor(broker, script, members[at]), CT_CHANNEL_DIRECT_UPGRADE: "1" })
    const leave = async () => {
      await broker[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    }
    return { broker, env, home, [Symbol.asyncDispose]: leave }
  }

  it("stay on the relay on one machine's loopback, and end in order", async () => {
    await using it = await stage("127.0.0.1")
    await using one = runAgent(it.home, it.env(0), ["channel"], "from one")
    await using two = runAgent(it.home, it.env(1), ["channel"], "from two")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.deepStrictEqual([one.stdout(), two.stdout()], ["from two", "from one"])
  })

  it.skipIf(lan === undefined)(
    "move where they reach each other, say so, and end when the edge cuts them",
    async () => {
      await using it = await stage(lan ?? "")
      await using one = runAgent(it.home, it.env(0), ["channel"], null)
      await using two = runAgent(it.home, it.env(1), ["channel"], null)
      await one.said("moved from front-door to a direct link")
      await two.said("moved from front-door to a direct link")
      for (const socket of it.broker.sockets) socket.resetAndDestroy()
      assert.deepStrictEqual([await one.exited, await two.exited], [5, 5], [...one.lines, ...two.lines].join("\n"))
    }
  )
})
