import { muxAgent, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"

const [OLD, NEW] = [token("3"), token("5")]
const tunnelHost = "app.zone.test"

describe("a routing token that another one replaces", () => {
  it.live("disconnects its agents and leaves its host and its records to the new one", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(OLD, tunnelHost, "gelb"))
      const { mux, registration } = yield* servingAgent(world, OLD, [tunnelHost])
      const replace = () =>
        world.admin("POST", "/admin/revoke", {
          headers: { "x-ct-routing-token": OLD, "x-ct-successor-token": NEW }
        })
      assert.strictEqual((yield* Effect.promise(replace)).status, 200)
      assert.strictEqual((yield* Effect.promise(() => registration.ended)).code, "revoked")
      mux.close("normal")

      const agent = yield* muxAgent(world, (stream) => {
        stream.resume()
        stream.write("new")
      })
      assert.isTrue(Result.isSuccess(yield* Effect.promise(() => agent.register(NEW, [tunnelHost]))))
      yield* Effect.promise(async () => {
        const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
        const said = readUntil(visitor, "new")
        visitor.write("\x00")
        await said
      })
      const sessionsOf = (of: string, at = world) =>
        Effect.promise(async () => {
          const { body } = await at.admin("GET", "/internal/tunnel/history", { headers: { "x-ct-routing-token": of } })
          return (body as { sessions: ReadonlyArray<{ reason: string | null }> }).sessions.map(({ reason }) => reason)
        })
      yield* Effect.promise(() => eventually(async () => agent.streams.length === 1, "the visitor is served"))
      assert.deepStrictEqual(yield* sessionsOf(NEW), [null, "revoked"])
      assert.strictEqual((yield* Effect.promise(replace)).status, 200)
      assert.strictEqual((yield* sessionsOf(NEW)).length, 2)
    }).pipe(Effect.scoped)
  )
})
