import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Handlers from "../../src/http/Handlers.ts"

class Inner extends Context.Service<Inner, number>()("server/test/Inner") {}
class Outer extends Context.Service<Outer, number>()("test/Outer") {}
class Seen extends Context.Service<Seen, ReadonlyArray<string>>()("test/Seen") {}

const seen = Layer.effect(
  Seen,
  Effect.map(Effect.context(), (context) => [...context.mapUnsafe.keys()])
)
const around = Layer.merge(Layer.succeed(Inner, 1), Layer.succeed(Outer, 2))

describe("handlers", () => {
  it.effect("are built without the services of this package around them", () =>
    Effect.gen(function* () {
      const keys = yield* Seen
      assert.include(keys, Outer.key)
      assert.notInclude(keys, Inner.key)
    }).pipe(Effect.provide(Handlers.lean(seen).pipe(Layer.provide(around))))
  )

  it.effect("take them where their group is made", () =>
    Effect.gen(function* () {
      const keys = yield* Seen
      assert.deepStrictEqual(
        keys.filter((key) => key.includes("Inner")),
        ["took Inner 1"]
      )
    }).pipe(
      Effect.provide(
        Handlers.layer(
          Effect.map(Inner, (inner) =>
            Layer.effect(
              Seen,
              Effect.map(Seen, (keys) => [...keys, `took Inner ${inner}`])
            ).pipe(Layer.provide(seen))
          )
        ).pipe(Layer.provide(around))
      )
    )
  )
})
