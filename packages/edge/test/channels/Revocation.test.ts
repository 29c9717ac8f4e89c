/** A member that may no longer talk is cut within a second, whatever it does and however it came. */
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { createHash } from "node:crypto"
import { MemberAuthority } from "../../src/channels/MemberAuthority.ts"
import { ControlPlane, type ControlPlaneClient } from "../../src/control/ControlPlane.ts"

const life = Effect.runSync(Scope.make())
let world: TestEdge
beforeAll(async () => {
  world = await Effect.runPromise(start({ CT_EDGE_PROCESSES: "2" }).pipe(Scope.provide(life)))
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const pair = (claims: Parameters<typeof Members.member>[1] = {}) => {
  const channel = Members.channel()
  const members = [Members.member(channel, claims), Members.member(channel)] as const
  Members.register(world, ...members)
  return members
}

const talking = async (...[a, b]: readonly [Members.TestMember, Members.TestMember]) => {
  const one = await Members.join(world, a)
  const two = await Members.join(world, b, { alpn: Members.plain })
  await Promise.all([Members.acknowledged(one), Members.acknowledged(two)])
  return [one, two] as const
}

const cut = async ({ channel, holder }: Members.TestMember, whole = false, keeps?: string) => {
  const body = { channel: hex(channel.id), ...(whole ? {} : { holder: hex(holder) }), ...(keeps && { keeps }) }
  const { status } = await world.admin("POST", "/internal/channel/cut", { body })
  assert.strictEqual(status, 200)
}

/** How long it takes until both are cut. */
const endOf = async (...peers: ReadonlyArray<Members.Peer>) => {
  const from = performance.now()
  await Promise.all(peers.map((peer) => peer.rest()))
  return performance.now() - from
}

describe.concurrent("an order to cut", () => {
  it("ends the sessions of the holder, and of no other", async () => {
    const [a, b] = pair()
    const c = Members.member(a.channel)
    Members.register(world, c)
    const first = await talking(a, b)
    const second = await talking(b, c)
    await cut(a)
    assert.isBelow(await endOf(...first), onThisMachine(1_000))
    second[0].send(Members.ascii("still"))
    assert.strictEqual((await second[1].take(5)).toString(), "still")
    await cut(a, true)
    assert.isBelow(await endOf(...second), onThisMachine(1_000))
  })

  it("ends what the holder has by another grant than the one that it names", async () => {
    const [a, b] = pair()
    const digest = (grant: Uint8Array) => createHash("sha256").update(grant).digest("hex")
    const first = await talking(a, b)
    await cut(a, false, digest(a.grant))
    first[0].send(Members.ascii("still"))
    assert.strictEqual((await first[1].take(5)).toString(), "still")
    await cut(a, false, digest(b.grant))
    assert.isBelow(await endOf(...first), onThisMachine(1_000))
  })

  it("sends those who wait away, who are asked about when they come again", async () => {
    const [a] = pair()
    const waiting = await Members.join(world, a)
    await eventually(
      async () => ((await world.metrics())["ct_edge_channel_parked"] ?? 0) > 0,
      "it waits in the main process"
    )
    Members.remove(world, a)
    await cut(a)
    assert.strictEqual((await waiting.rest()).toString(), "EX")
    const again = await Members.dial(world)
    again.send(Members.joinFrame(a))
    assert.strictEqual((await again.rest()).toString("latin1"), "NO\u000anot-member")
  })

  it("is not outrun by an answer from before", async () => {
    const [a] = pair()
    const peer = await Members.dial(world)
    peer.send(Members.joinFrame(a))
    const challenge = await peer.take(32)
    await cut(a)
    peer.send(Members.answer(a, challenge))
    assert.strictEqual((await peer.rest()).toString(), "EX")
  })

  it("is refused without the form of a channel", async () => {
    const { status } = await world.admin("POST", "/internal/channel/cut", { body: { channel: "x" } })
    assert.strictEqual(status, 400)
  })
})

it.effect("an answer to a question of before a cut is not remembered for when the control plane is away", () =>
  Effect.gen(function* () {
    const asked = yield* Deferred.make<void>()
    const answered = yield* Deferred.make<void>()
    let isAway = false
    const authorizeChannel = () =>
      Effect.gen(function* () {
        if (isAway) return yield* Effect.die("away")
        yield* Deferred.succeed(asked, undefined)
        yield* Deferred.await(answered)
        return { operator_pubkey: "0a".repeat(32) }
      })
    const authority = yield* MemberAuthority.make.pipe(
      Effect.provideService(ControlPlane, {
        client: { authorizeChannel } as unknown as ControlPlaneClient,
        seed: undefined
      })
    )
    const [cut, other] = ["0b".repeat(32), "0c".repeat(32)] as const
    const ask = (channel: string) => authority.ask(channel, "0d".repeat(32))
    const asking = yield* Effect.forkChild(Effect.all([ask(cut), ask(other)], { concurrency: 2 }))
    yield* Deferred.await(asked)
    authority.forget(cut)
    yield* Deferred.succeed(answered, undefined)
    for (const { answer } of yield* Fiber.join(asking)) assert.notStrictEqual(answer, "unknown")
    isAway = true
    assert.strictEqual((yield* ask(cut)).answer, "unknown")
    assert.notStrictEqual((yield* ask(other)).answer, "unknown")
  })
)

describe.concurrent("a session", () => {
  it("ends with the grant of either member", async () => {
    const ends = BigInt(Math.ceil(Date.now() / 1_000) + 2)
    const [a, b] = pair({ expiresAt: ends })
    await endOf(...(await talking(a, b)))
    const late = Date.now() / 1_000 - Number(ends)
    assert.isTrue(late >= 0 && late < 5, `${late} s after the end`)
  })
})

describe.concurrent("presence", () => {
  it("names those who wait or talk, and when the others were last here", async () => {
    const [a, b] = pair()
    const path = `/internal/channel/presence/${hex(a.channel.id)}`
    const presence = async () => {
      const { holders } = (await world.admin("GET", path)).body as {
        holders: ReadonlyArray<{ holder: string; parked_now: boolean; last_seen_secs_ago: number }>
      }
      return new Map(holders.map(({ holder, ...rest }) => [holder, rest]))
    }
    assert.strictEqual((await presence()).size, 0)
    const waiting = await Members.join(world, a)
    await eventually(async () => (await presence()).has(hex(a.holder)), "it is seen")
    assert.deepStrictEqual((await world.admin("GET", `${path}/${hex(a.holder)}`)).body, {
      seen: true,
      parked_now: true,
      last_seen_secs_ago: 0
    })
    assert.deepStrictEqual((await world.admin("GET", `${path}/${hex(b.holder)}`)).body, { seen: false })
    const other = await Members.join(world, b)
    await Promise.all([Members.acknowledged(waiting), Members.acknowledged(other)])
    assert.sameMembers([...(await presence()).keys()], [hex(a.holder), hex(b.holder)])
    const channels = [hex(a.channel.id), "00".repeat(32)]
    const { body } = await world.admin("POST", "/internal/channel/presence/bulk", { body: { channels } })
    const [own, unseen] = body as ReadonlyArray<{ channel: string; holders: ReadonlyArray<{ holder: string }> }>
    assert.sameMembers(own?.holders.map(({ holder }) => holder) ?? [], [hex(a.holder), hex(b.holder)])
    assert.deepStrictEqual(unseen, { channel: "00".repeat(32), holders: [] })
    for (const peer of [waiting, other]) peer.socket.destroy()
  })
})
