/** Members meet wherever they arrive: in any process of an edge, and at any edge. */
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, temporaryFolder, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { ranked } from "../../src/channels/ChannelPlacement.ts"

type Places = readonly [Members.TestMember, Members.TestMember]

const newPair = (world: TestEdge, channel = Members.channel()): Places => {
  const members = [Members.member(channel), Members.member(channel)] as const
  Members.register(world, ...members)
  return members
}

/** Both join, are acknowledged, and hear each other. */
const meet = async (one: Promise<Members.Peer>, two: Promise<Members.Peer>) => {
  const [a, b] = await Promise.all([one, two])
  a.send(Members.ascii("ping"))
  b.send(Members.ascii("pong"))
  assert.strictEqual((await b.take(4)).toString(), "ping")
  assert.strictEqual((await a.take(4)).toString(), "pong")
  return [a, b] as const
}

const heard = async (joining: Promise<Members.Peer>) => {
  const peer = await joining
  await Members.acknowledged(peer)
  return peer
}

const joined = (...args: Parameters<typeof Members.join>) => heard(Members.join(...args))

describe("an edge of several processes", () => {
  it.live("has one room: members of different processes meet, and a dead one is forgotten", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_PROCESSES: "3" })
      yield* Effect.promise(async () => {
        const waiting = Array.from({ length: 24 }, () => newPair(world))
        const first = waiting.map(([a], index) =>
          Members.join(world, a, index < 8 || index % 2 === 0 ? {} : { alpn: Members.plain })
        )
        for (const one of await Promise.all(first)) assert.isFalse(one.ended)
        await eventually(async () => (await world.metrics())["ct_edge_channel_parked"] === 24, "all wait in one room")
        for (const dying of await Promise.all(first.slice(0, 8))) dying.socket.destroy()
        await eventually(async () => (await world.metrics())["ct_edge_channel_parked"] === 16, "the dead are forgotten")
        await Promise.all(
          waiting.map(async ([, b], index) => {
            const again = index < 8 ? joined(world, waiting[index]![0]) : heard(first[index]!)
            const [one, two] = await meet(again, joined(world, b))
            one.socket.destroy()
            assert.strictEqual((await two.rest()).length, 0)
            two.socket.destroy()
          })
        )
        await eventually(async () => (await world.metrics())["ct_edge_channel_sessions"] === 0, "no session is left")
      })
    }).pipe(Effect.scoped)
  )
})

/** Edges of one control plane with one CA. Each ends with its own scope. */
const edges = Effect.fn("edges")(function* (ids: ReadonlyArray<string>, variables: Record<string, string> = {}) {
  const controlPlane = yield* startControlPlane
  let root: string | undefined
  const worlds = new Map<string, { readonly world: TestEdge; readonly end: Effect.Effect<void> }>()
  for (const id of ids) {
    const folder = yield* temporaryFolder
    if (root !== undefined)
      for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(root, file), join(folder, file))
    const life = yield* Effect.acquireRelease(Scope.make(), (life) => Scope.close(life, Exit.void))
    const own = { CT_EDGE_ID: id, CT_EDGE_MESH_RELAY_ENABLED: "1", CT_EDGE_MESH_RELAY_PRIVATE: "1", ...variables }
    const world = yield* start(own, { controlPlane, folder }).pipe(Scope.provide(life))
    root ??= folder
    worlds.set(id, { world, end: Scope.close(life, Exit.void) })
    controlPlane.edges.push({ edge_id: id, peer_addr: `127.0.0.1:${world.mesh}`, live: true })
  }
  const linked = async () => {
    for (const { world } of worlds.values())
      await eventually(
        async () => (await world.metrics())["ct_edge_channel_peers"] === ids.length - 1,
        "edges know each other"
      )
  }
  yield* Effect.promise(linked)
  return (id: string) => worlds.get(id)!
})

/** A channel that prefers the edges in this order. */
const channelAt = (...order: ReadonlyArray<string>) => {
  for (;;) {
    const channel = Members.channel()
    if (ranked(channel.id.toString("hex"), order).join() === order.join()) return channel
  }
}

describe.concurrent("several edges", () => {
  it.live("have one room for each channel, wherever its members arrive", () =>
    Effect.gen(function* () {
      const at = yield* edges(["one", "two"])
      yield* Effect.promise(async () => {
        const [one, two] = [at("one").world, at("two").world]
        for (const [home, first, second] of [
          ["one", one, two],
          ["one", two, one],
          ["one", two, two],
          ["two", two, one],
          ["two", one, one]
        ] as const) {
          const [a, b] = newPair(one, channelAt(...(home === "one" ? ["one", "two"] : ["two", "one"])))
          for (const peer of await meet(joined(first, a), joined(second, b))) peer.socket.destroy()
        }
        const channel = channelAt("one", "two")
        const reader = Members.member(channel, { rights: "r", expiresAt: 3_900_000_000n })
        const other = Members.member(channel)
        Members.register(one, reader, other)
        const carried = await Promise.all([Members.join(two, reader), Members.join(two, other)])
        const [toReader, toOther] = await Promise.all(carried.map((peer) => Members.acknowledged(peer)))
        assert.deepStrictEqual(
          toReader?.slice(-3, -1),
          ["pr=rw", "pe=4000000000"],
          "the grants travel with their members"
        )
        assert.deepStrictEqual(toOther?.slice(-3, -1), ["pr=r", "pe=3900000000"])
        for (const peer of carried) peer.socket.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("of several processes each have it too", () =>
    Effect.gen(function* () {
      const at = yield* edges(["one", "two"], { CT_EDGE_PROCESSES: "2" })
      yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: 12 }, async () => {
            const [a, b] = newPair(at("one").world)
            // A process learns of the other edges within a few seconds, and those who came before are sent away once.
            const met = await meet(Members.insist(at("one").world, a), Members.insist(at("two").world, b))
            for (const peer of met) peer.socket.destroy()
          })
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("bring members together again within five seconds when the home ends, while they wait or talk", () =>
    Effect.gen(function* () {
      const at = yield* edges(["one", "two", "home"])
      const [one, two] = [at("one").world, at("two").world]
      const [a, b] = newPair(one, channelAt("home", "one", "two"))
      const [c, d] = newPair(one, channelAt("home", "two", "one"))
      const [talking, other, waiting] = yield* Effect.promise(async () => {
        const talking = await meet(joined(one, a), joined(two, b))
        const waits = Members.acknowledged(await Members.join(one, c)).then(
          () => "it met none",
          () => "sent away"
        )
        return [...talking, waits] as const
      })
      yield* at("home").end
      yield* Effect.promise(async () => {
        const from = performance.now()
        assert.strictEqual((await talking.rest()).length + (await other.rest()).length, 0)
        assert.strictEqual(await waiting, "sent away")
        const again = await Promise.all([
          Members.insist(one, a),
          Members.insist(two, b),
          Members.insist(one, c),
          Members.insist(two, d)
        ])
        assert.isBelow(performance.now() - from, onThisMachine(5_000))
        for (const peer of again) peer.socket.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("take members only from those who know the admin token", () =>
    Effect.gen(function* () {
      const at = yield* edges(["one", "two"])
      const stranger = yield* Effect.promise(() => Members.Peer.to(at("one").world.mesh, at("one").world.meshRoot))
      stranger.send(Members.ascii("H"), Buffer.alloc(32, 7))
      assert.strictEqual((yield* Effect.promise(() => stranger.rest())).toString(), "NO")
    }).pipe(Effect.scoped)
  )
})

describe("the home of a channel", () => {
  it("is the same for all, and moves only with its own edge", () => {
    const ids = ["a", "b", "c", "d", "e"]
    const channels = Array.from({ length: 500 }, () => Members.channel().id.toString("hex"))
    const homes = new Map<string, number>()
    for (const channel of channels) {
      const order = ranked(channel, ids)
      assert.deepStrictEqual(ranked(channel, [...ids].reverse()), order)
      const [home = "", next = ""] = order
      homes.set(home, (homes.get(home) ?? 0) + 1)
      const left = ids.filter((id) => id !== next)
      assert.strictEqual(ranked(channel, left)[0], home)
      const without = ids.filter((id) => id !== home)
      assert.strictEqual(ranked(channel, without)[0], next)
    }
    for (const id of ids) assert.isAbove(homes.get(id) ?? 0, 50)
  })
})
