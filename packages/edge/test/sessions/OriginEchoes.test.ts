import { muxAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import type { OriginEcho } from "@catenet/wire/frames/MuxEcho"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Result } from "effect"

const T = token("a")
const tunnelHost = "app.zone.test"
const up: OriginEcho = { verdict: "up", millis: 1, origin: "127.0.0.1:8080" }

interface Reach {
  readonly state: string
  readonly since: number | null
  readonly fault: string | null
  readonly origin: string | null
  readonly http_status: number | null
}

const reachOf = async (world: TestEdge) => {
  const tokens = [T]
  const { body } = await world.admin("POST", "/admin/tunnel-status/bulk", { body: { tokens, watched: true } })
  const [status] = body as ReadonlyArray<{ readonly connected: boolean; readonly reach: Reach }>
  return { connected: status?.connected, ...status?.reach }
}

const becomes = (world: TestEdge, state: string) =>
  Effect.promise(async () => {
    await eventually(async () => (await reachOf(world)).state === state, `the tunnel is ${state}`)
    return reachOf(world)
  })

/** An agent that answers echoes as the test says at that moment. */
const echoing = Effect.fn("echoing")(function* (world: TestEdge, answer: { now: OriginEcho | undefined }) {
  const agent = yield* muxAgent(world, undefined, world.mesh, (_registration, say) => answer.now && say(answer.now))
  const registered = yield* Effect.promise(() => agent.register(T, [tunnelHost]))
  assert.isTrue(Result.isSuccess(registered))
  return agent.mux
})

describe("the echo through an edge", () => {
  it.live("is up at once, names a silent origin and then a silent agent, each with its time", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      assert.deepInclude(yield* Effect.promise(() => reachOf(world)), { state: "agent_silent", since: null })
      const began = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const answer: { now: OriginEcho | undefined } = { now: up }
      const mux = yield* echoing(world, answer)
      const first = yield* becomes(world, "up")
      assert.deepInclude(first, { connected: true, fault: null, origin: "127.0.0.1:8080" })
      assert.isAtLeast(first.since ?? 0, began)
      answer.now = { verdict: "status", status: 503, millis: 2, origin: "127.0.0.1:8080" }
      const silent = yield* becomes(world, "origin_silent")
      assert.deepInclude(silent, { connected: true, fault: "status", http_status: 503 })
      assert.isAtLeast(silent.since ?? 0, began)
      answer.now = up
      yield* becomes(world, "up")
      mux.close("normal")
      const gone = yield* becomes(world, "agent_silent")
      assert.strictEqual(gone.connected, false)
      assert.isAtLeast(gone.since ?? 0, began)
      const metrics = yield* Effect.promise(() => world.metrics())
      assert.isAtLeast(metrics[`ct_edge_echoes_total{verdict="up"}`] ?? 0, 2)
      assert.isAtLeast(metrics[`ct_edge_echoes_total{verdict="status"}`] ?? 0, 1)
    }).pipe(Effect.scoped)
  )

  it.live("knows of an agent of before that it is connected, and asks it nothing", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const agent = yield* muxAgent(world)
      yield* Effect.promise(() => agent.register(T, [tunnelHost]))
      const found = yield* becomes(world, "connected")
      assert.deepInclude(found, { connected: true, fault: null, origin: null })
      assert.strictEqual((yield* Effect.promise(() => world.metrics()))[`ct_edge_tunnel_reach{state="connected"}`], 1)
    }).pipe(Effect.scoped)
  )
})
