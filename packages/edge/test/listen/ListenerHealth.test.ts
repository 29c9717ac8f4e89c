import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ConnectionLimiter from "../../src/listen/ConnectionLimiter.ts"
import { ListenerHealth } from "../../src/listen/ListenerHealth.ts"
import * as TcpListener from "../../src/listen/TcpListener.ts"

const limiter = ConnectionLimiter.make(
  { connections: 10, connectionsPerAddress: 10, connectionRatePerAddress: 0 },
  undefined
)

const listener = TcpListener.listen({
  name: "front-door",
  variable: "CT_FRONT_DOOR",
  address: { host: "127.0.0.1", port: 0 },
  limiter,
  onConnection: (socket) => void socket.destroy(),
  ending: () => (error) => {
    throw error
  }
})

describe("health", () => {
  it.live("checks with a connection of its own whether a listener accepts, which no counter counts", () =>
    Effect.gen(function* () {
      const life = yield* Scope.make()
      const open = yield* listener.pipe(Scope.provide(life))
      assert.strictEqual(yield* open.accepts, "accepts")
      assert.strictEqual(limiter.open(), 0)
      yield* open.stop
      assert.strictEqual(yield* open.accepts, "silent")
      yield* Scope.close(life, Exit.void)
    })
  )

  it.effect("names a listener that has not started, or has not accepted for a minute", () =>
    Effect.gen(function* () {
      const health = yield* ListenerHealth
      yield* health.expect(["front-door"])
      yield* TestClock.setTime(1_000_000)
      assert.deepStrictEqual(yield* health.stalled, ["front-door"])
      let trial: TcpListener.ListenerProbe = "accepts"
      const fake: TcpListener.TcpListener = {
        name: "front-door",
        address: { host: "127.0.0.1", port: 0 },
        stop: Effect.void,
        accepts: Effect.sync(() => trial)
      }
      yield* Effect.forkScoped(health.watch(fake))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* health.stalled, [])
      trial = "silent"
      yield* TestClock.adjust("50 seconds")
      assert.deepStrictEqual(yield* health.stalled, [])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* health.stalled, ["front-door"])
      trial = "accepts"
      yield* health.check(fake)
      assert.deepStrictEqual(yield* health.stalled, [])
      trial = "exhausted"
      yield* health.check(fake)
      assert.deepStrictEqual(yield* health.stalled, ["front-door"])
      trial = "accepts"
      yield* health.check(fake)
      health.lost("front-door")
      assert.deepStrictEqual(yield* health.stalled, ["front-door"])
      yield* health.check(fake)
      assert.deepStrictEqual(yield* health.stalled, [])
    }).pipe(Effect.scoped, Effect.provide(ListenerHealth.layer))
  )
})
