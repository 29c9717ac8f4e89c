/** How many commands of services run at once, and whose. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { setImmediate } from "node:timers/promises"
import { type Caller, ToolFailed } from "../../src/channel/rpc/Tool.ts"
import { HandlerPlaces } from "../../src/channel/serve/MemberTools.ts"

const caller: Caller = { noiseKey: new Uint8Array(32), rights: "rw" }
const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 8; turn++) await setImmediate()
})

describe("places for service commands", () => {
  const [a, b, c] = [{ ...caller }, { ...caller }, { ...caller }]

  it.live("are as many as were set, and one for each session beyond them, which waits for no other", () =>
    Effect.gen(function* () {
      const places = new HandlerPlaces(2)
      const begun: Array<string> = []
      const begin = (name: string, session: Caller) =>
        Effect.forkChild(
          places.hold(
            session,
            Effect.andThen(
              Effect.sync(() => begun.push(name)),
              Effect.never
            )
          )
        )
      const first = yield* begin("a1", a)
      const second = yield* begin("a2", a)
      const third = yield* begin("a3", a)
      yield* begin("b1", b)
      yield* begin("b2", b)
      yield* begin("c1", c)
      yield* turns
      assert.deepStrictEqual(begun, ["a1", "a2", "b1", "c1"])
      // Three run beyond its end, one more than there are places.
      yield* Fiber.interrupt(first)
      yield* turns
      assert.lengthOf(begun, 4)
      yield* Fiber.interrupt(third)
      yield* Fiber.interrupt(second)
      yield* turns
      assert.lengthOf(begun, 4)
    })
  )

  it.live("go to the session that runs the fewest, and come back when a command fails", () =>
    Effect.gen(function* () {
      const places = new HandlerPlaces(1)
      const begun: Array<string> = []
      const stops = new Map<string, Deferred.Deferred<void, ToolFailed>>()
      const begin = (name: string, session: Caller) =>
        Effect.gen(function* () {
          const stop = yield* Deferred.make<void, ToolFailed>()
          stops.set(name, stop)
          return yield* Effect.forkChild(
            places.hold(
              session,
              Effect.andThen(
                Effect.sync(() => begun.push(name)),
                Deferred.await(stop)
              )
            )
          )
        })
      const fail = (name: string) =>
        Effect.andThen(Deferred.fail(stops.get(name) ?? assert.fail(name), new ToolFailed({ reason: "x" })), turns)
      yield* begin("a1", a)
      yield* begin("a2", a)
      yield* begin("b1", b)
      yield* begin("b2", b)
      yield* turns
      assert.deepStrictEqual(begun, ["a1", "b1"])
      yield* fail("b1")
      assert.deepStrictEqual(begun, ["a1", "b1", "b2"])
      yield* fail("b2")
      yield* fail("a1")
      assert.deepStrictEqual(begun, ["a1", "b1", "b2", "a2"])
    })
  )
})
