/** Data-plane 8.4 at a real edge: members reach the relay node through the gate, and strangers do not. */
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { createServer, type AddressInfo, type Socket } from "node:net"

const identity = "12D3KooWNode"

/** A relay node that answers what it hears, and lists who has come. */
const startNode = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly port: number; readonly guests: Set<Socket>; readonly close: () => void }>((resolve) => {
        const guests = new Set<Socket>()
        const server = createServer({ allowHalfOpen: true }, (socket) => {
          guests.add(socket)
          socket.on("error", () => undefined).on("close", () => guests.delete(socket))
          socket.pipe(socket)
        })
        const close = () => {
          server.close()
          for (const guest of guests) guest.destroy()
        }
        server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, guests, close }))
      })
  ),
  ({ close }) => Effect.sync(close)
)

const life = Effect.runSync(Scope.make())
let world: TestEdge
let node: Effect.Success<typeof startNode>
const behind = (port: number) => ({
  CT_EDGE_RELAY_UPSTREAM: `127.0.0.1:${port}`,
  CT_EDGE_RELAY_NODE_PEER: identity
})
beforeAll(async () => {
  node = await Effect.runPromise(startNode.pipe(Scope.provide(life)))
  const variables = { CT_EDGE_PROCESSES: "2", ...behind(node.port) }
  world = await Effect.runPromise(start(variables).pipe(Scope.provide(life)))
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const newMember = (claims: Parameters<typeof Members.member>[1] = {}) => {
  const member = Members.member(Members.channel(), claims)
  Members.register(world, member)
  return member
}

const alpn = ["ct-edge-relay"]
const dial = (place: TestEdge = world) => Members.dial(place, { alpn })

/** Grant, challenge, signature with `behind` in the same write, and the reply of the edge. */
const enter = async (member: Members.TestMember, behind: Uint8Array = Buffer.alloc(0)) => {
  const peer = await dial()
  peer.send(member.grant)
  peer.send(Members.answer(member, await peer.take(32)), behind)
  const reply = await peer.take(4 + identity.length)
  assert.strictEqual(reply.toString("latin1"), `OK\0${String.fromCharCode(identity.length)}${identity}`)
  return peer
}

const refusal = (token: string) => `NO${String.fromCharCode(token.length)}${token}`

const answered = async (bytes: Uint8Array, place: TestEdge = world) => {
  const peer = await dial(place)
  peer.send(bytes)
  return (await peer.rest()).toString("latin1")
}

describe.concurrent("the gate", () => {
  it("lets a member through to the node, byte for byte in both directions, until both have ended", async () => {
    const member = newMember()
    const peer = await enter(member, Members.ascii("early "))
    peer.send(Members.ascii("and late"))
    assert.strictEqual((await peer.take(14)).toString(), "early and late")
    const large = Buffer.alloc(300_000, "x")
    peer.send(large)
    peer.socket.end()
    assert.isTrue(large.equals(await peer.rest()))
  })

  it("takes the grant and the signature in single bytes", async () => {
    const member = newMember()
    const peer = await dial()
    for (const byte of member.grant) peer.send(byte)
    for (const byte of Members.answer(member, await peer.take(32))) peer.send(byte)
    assert.strictEqual((await peer.take(4 + identity.length)).toString("latin1", 0, 2), "OK")
    peer.socket.destroy()
  })

  it("refuses as the broker does", async () => {
    const member = newMember()
    const stranger = Members.member(member.channel)
    const forged = Members.member({ ...Members.channel(), id: member.channel.id }, {}, member.seed)
    assert.strictEqual(await answered(Buffer.alloc(139)), refusal("malformed"))
    assert.strictEqual(await answered(stranger.grant), refusal("not-member"))
    assert.strictEqual(await answered(forged.grant), refusal("grant-verify"))
    assert.strictEqual(await answered(newMember({ expiresAt: 1_000n }).grant), refusal("grant-verify"))
    const peer = await dial()
    peer.send(member.grant)
    peer.send(Members.answer(stranger, await peer.take(32)))
    assert.strictEqual((await peer.rest()).toString("latin1"), refusal("possession"))
  })

  it("says nothing to a member that ends within its grant or its signature", async () => {
    const member = newMember()
    await Promise.all(
      [0, 1, 138].map(async (length) => {
        const peer = await dial()
        peer.send(member.grant.subarray(0, length))
        peer.socket.end()
        assert.strictEqual((await peer.rest()).length, 0)
      })
    )
    const peer = await dial()
    peer.send(member.grant)
    peer.send(Members.answer(member, await peer.take(32)).subarray(0, 63))
    peer.socket.end()
    assert.strictEqual((await peer.rest()).length, 0)
  })

  it("ends at once with an order to cut, and with the grant", async () => {
    const end = Math.ceil(Date.now() / 1_000) + 2
    const [cut, ending] = [newMember(), newMember({ expiresAt: BigInt(end) })]
    const peers = [await enter(cut), await enter(ending)] as const
    const body = { channel: cut.channel.id.toString("hex"), holder: Buffer.from(cut.holder).toString("hex") }
    const from = performance.now()
    assert.strictEqual((await world.admin("POST", "/internal/channel/cut", { body })).status, 200)
    await peers[0].rest()
    assert.isBelow(performance.now() - from, onThisMachine(1_000))
    await peers[1].rest()
    const late = Date.now() / 1_000 - end
    assert.isTrue(late >= 0 && late < 5, `${late} s after the end`)
  })

  it("is not passed by a member that was cut between the question and its signature", async () => {
    const member = newMember()
    const peer = await dial()
    peer.send(member.grant)
    const challenge = await peer.take(32)
    const body = { channel: member.channel.id.toString("hex") }
    await world.admin("POST", "/internal/channel/cut", { body })
    peer.send(Members.answer(member, challenge))
    assert.strictEqual((await peer.rest()).length, 0)
  })

  it("lets the node end a session", async () => {
    const peer = await enter(newMember())
    peer.send(Members.ascii("?"))
    await peer.take(1)
    const mine = [...node.guests].filter(({ bytesRead }) => bytesRead === 1)
    for (const guest of mine) guest.destroy()
    await peer.rest()
    assert.isTrue(peer.ended)
  })
})

describe("an edge", () => {
  it.live("whose relay node is gone says that it is worth another try, and counts it", () =>
    Effect.gen(function* () {
      const gone = yield* startNode.pipe(Effect.tap(({ close }) => Effect.sync(close)))
      const alone = yield* start(behind(gone.port))
      const member = Members.member(Members.channel())
      Members.register(alone, member)
      yield* Effect.promise(async () => {
        const peer = await dial(alone)
        peer.send(member.grant)
        peer.send(Members.answer(member, await peer.take(32)))
        assert.strictEqual((await peer.rest()).toString("latin1"), refusal("unavailable"))
        assert.strictEqual((await alone.metrics())["ct_edge_relay_gate_unreachable_total"], 1)
      })
    }).pipe(Effect.scoped)
  )

  it.live(
    "takes no more from an address that guesses at its gate or at its broker, and has no gate without a node",
    () =>
      Effect.gen(function* () {
        const own = yield* start(behind(node.port))
        const without = yield* start({}, { controlPlane: own.controlPlane })
        const isClosed = (place: TestEdge, options: Members.JoinOptions) =>
          Members.dial(place, options).then(
            () => false,
            () => true
          )
        yield* Effect.promise(async () => {
          assert.isTrue(await isClosed(without, { alpn }))
          const channel = Members.channel()
          const guess = (each: number) => (each % 2 === 0 ? alpn : Members.keepAlive)
          for (let each = 0; each < 30; each++) {
            const stranger = Members.member(channel)
            const peer = await Members.dial(own, { alpn: guess(each) })
            peer.send(each % 2 === 0 ? stranger.grant : Members.joinFrame(stranger))
            assert.strictEqual((await peer.rest()).toString("latin1"), refusal("not-member"))
          }
          await eventually(() => isClosed(own, { alpn }), "the gate is closed to the address")
          assert.isTrue(await isClosed(own, {}))
        })
      }).pipe(Effect.scoped)
  )
})
