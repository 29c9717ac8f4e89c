/** How many members an edge takes at once, and what it counts of them. */
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"

const most = 6
let life: Scope.Closeable
let world: TestEdge
beforeEach(async () => {
  life = Effect.runSync(Scope.make())
  const cap = { CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS: String(most) }
  world = await Effect.runPromise(start(cap).pipe(Scope.provide(life)))
})
afterEach(() => Effect.runPromise(Scope.close(life, Exit.void)))

const figure = async (name: string) => (await world.metrics())[`ct_edge_channel_${name}`]
const becomes = (name: string, value: number) => eventually(async () => (await figure(name)) === value, name)

const pair = () => {
  const channel = Members.channel()
  const members = [Members.member(channel), Members.member(channel)] as const
  Members.register(world, ...members)
  return members
}

const meet = async (options: Members.JoinOptions) => {
  const [a, b] = pair()
  const one = await Members.join(world, a, options)
  const two = await Members.join(world, b, options)
  await Promise.all([one, two].map(Members.acknowledged))
  return [one, two] as const
}

const leave = (...peers: ReadonlyArray<Members.Peer>) => peers.forEach(({ socket }) => socket.destroy())

describe("an edge", () => {
  it("counts pairs, their bytes, and those who waited in vain", async () => {
    const [one, two] = await meet({ phase: 2 })
    one.send(Members.ascii("hello"))
    two.send(Members.ascii("good day"))
    assert.strictEqual((await two.take(5)).toString() + (await one.take(8)).toString(), "hellogood day")
    leave(one, two)
    await becomes("splices_total", 1)
    await becomes("relay_bytes_total", 13)
    await becomes("sessions", 0)

    leave(...(await meet({ phase: 1 })))
    await becomes("rendezvous_pairs_total", 1)
    await becomes('park_legs_total{keepalive="true"}', 4)

    const [alone] = pair()
    const parks: Array<Members.Peer> = []
    for (let each = 0; each < 5; each++) parks.push(await Members.join(world, alone))
    await becomes("parked", 4)
    await becomes("park_superseded_total", 1)
    await becomes('park_legs_total{keepalive="true"}', 9)
    leave(...parks)
    await becomes("park_reaped_total", 4)
    await becomes("parked", 0)

    const [direct] = pair()
    leave(await Members.join(world, direct, { endpoint: "203.0.113.7:7001", alpn: Members.plain }))
    await becomes('park_legs_total{keepalive="false"}', 1)
    await becomes('endpoint_attestation_total{result="unobservable"}', 1)
    await becomes('endpoint_attestation_total{result="no_address"}', 9)
    assert.isAtLeast((await figure('broker_loop_last_seen_seconds{loop="room"}')) ?? 0, 1)
    assert.isAtLeast((await figure('broker_loop_expected_since_seconds{loop="room"}')) ?? 0, 1)
  })

  it(`takes ${most} members at once, closes one more without a word, and takes it when one has left`, async () => {
    const waiting: Array<Members.Peer> = []
    for (let each = 0; each < most; each++) waiting.push(await Members.join(world, pair()[0]))
    const [late] = pair()
    const refused = await Members.join(world, late).then(
      () => "taken",
      (error: Error) => error.message
    )
    assert.notInclude(refused, "taken")
    assert.notInclude(refused, "NO")
    assert.isFalse(
      waiting.some(({ ended }) => ended),
      "those who wait are not disturbed"
    )
    leave(...waiting.splice(0, 1))
    await becomes("parked", most - 1)
    leave(await Members.join(world, late), ...waiting)
  })

  it("has members of an address that takes all places give way to those of another, first those who say nothing", async () => {
    const crowd = { from: "127.0.0.2" }
    const waiting: Array<Members.Peer> = []
    for (let each = 0; each < most - 2; each++) waiting.push(await Members.join(world, pair()[0], crowd))
    const silent = [await Members.dial(world, crowd), await Members.dial(world, crowd)]
    // Both are admitted to the broker by now, as one more of their address is not.
    await eventually(async () => {
      const one = await Members.join(world, pair()[0], crowd).catch(() => undefined)
      leave(...(one === undefined ? [] : [one]))
      return one === undefined
    }, "no place for one more of the address")

    const [a, b] = pair()
    const [one, two] = [await Members.join(world, a, { phase: 2 }), await Members.join(world, b, { phase: 2 })]
    await Promise.all([one, two].map(Members.acknowledged))
    one.send(Members.ascii("hello"))
    assert.strictEqual((await two.take(5)).toString(), "hello")
    await eventually(() => silent.every(({ ended }) => ended), "those who say nothing have gone")
    assert.isFalse(
      waiting.some(({ ended }) => ended),
      "those who wait are still there"
    )
    const third = await Members.join(world, pair()[0], { from: "127.0.0.3" })
    await eventually(() => waiting.filter(({ ended }) => ended).length === 1, "one who waits has gone")
    leave(one, two, third, ...silent, ...waiting)
  })
})
