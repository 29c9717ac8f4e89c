import { muxAgent, readAll, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { unregisteredPerBlock } from "../../src/sessions/UnregisteredAgentQuota.ts"

const random = () => randomBytes(32).toString("hex")
const namedTunnel = { token: token("1"), host: "app.zone.test" }
const beyond = 3

const evictions = "ct_edge_unnamed_parks_evicted_total"

describe("agents with tokens that the control plane has not named", () => {
  it.live(
    "have 32 places for each address, slots and connections together; the oldest goes, a named tunnel's stays",
    () =>
      Effect.gen(function* () {
        const world = yield* start({ CT_EDGE_REQUIRE_HOST_AUTH: "0" })
        yield* Effect.promise(() => world.authorize(namedTunnel.token, namedTunnel.host, "gelb"))
        const named = yield* servingAgent(world, namedTunnel.token, [namedTunnel.host], (stream) => {
          stream.once("data", () => stream.end("still here"))
        })
        const slots = yield* Effect.forEach(Array.from({ length: unregisteredPerBlock / 2 }), (_, index) =>
          slotAgent(world, random(), "B", `park-${index}.zone.test`)
        )
        const registered = yield* Effect.forEach(Array.from({ length: unregisteredPerBlock / 2 }), () =>
          servingAgent(world, random(), [])
        )
        const opened = yield* Effect.promise(() => world.metrics())
        assert.deepStrictEqual([opened[evictions], opened["ct_edge_active_agents"]], [0, unregisteredPerBlock + 1])
        for (let count = 0; count < beyond; count++) yield* servingAgent(world, random(), [])
        yield* Effect.promise(() =>
          eventually(
            () => slots.filter(({ socket }) => socket.destroyed || socket.readableEnded).length === beyond,
            "the oldest are closed"
          )
        )
        assert.isTrue(slots.slice(beyond).every(({ socket }) => !socket.readableEnded))
        assert.isTrue(registered.every(({ socket }) => !socket.readableEnded))
        const after = yield* Effect.promise(() => world.metrics())
        assert.deepStrictEqual([after[evictions], named.socket.readableEnded], [beyond, false])
        const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, namedTunnel.host))
        const answer = readAll(visitor)
        visitor.write("\x00")
        assert.strictEqual((yield* Effect.promise(() => answer)).toString(), "still here")
      }).pipe(Effect.scoped)
  )

  it.live("that are refused stay within the pool, and one that registers a named tunnel leaves the pool", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(namedTunnel.token, namedTunnel.host, "gelb"))
      const first = yield* muxAgent(world)
      yield* Effect.promise(() => first.register(random(), ["not.zone.test"]))
      yield* Effect.promise(() => first.register(namedTunnel.token, [namedTunnel.host]))
      const refused = yield* Effect.forEach(Array.from({ length: unregisteredPerBlock + 1 }), () => muxAgent(world))
      for (const { register } of refused) yield* Effect.promise(() => register(random(), ["not.zone.test"]))
      const closed = yield* Effect.promise(() => refused[0]?.mux.closed ?? Promise.reject(new Error("none")))
      assert.strictEqual(closed.code, "overloaded")
      assert.strictEqual((yield* Effect.promise(() => world.metrics()))[evictions], 1)
      assert.isFalse(first.socket.readableEnded)
    }).pipe(Effect.scoped)
  )

  it.live("that have requested nothing are closed when the pool is full", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "2" })
      yield* Effect.promise(() => world.authorize(namedTunnel.token, namedTunnel.host, "gelb"))
      const silent = [yield* muxAgent(world), yield* muxAgent(world)]
      yield* Effect.promise(() => Promise.all(silent.map(({ mux }) => mux.ready)))
      yield* servingAgent(world, namedTunnel.token, [namedTunnel.host])
      assert.strictEqual(
        (yield* Effect.promise(() => silent[0]?.mux.closed ?? Promise.reject(new Error("none")))).code,
        "overloaded"
      )
      assert.isFalse(silent[1]?.socket.readableEnded)
    }).pipe(Effect.scoped)
  )
})
