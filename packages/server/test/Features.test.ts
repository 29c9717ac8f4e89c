import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, References } from "effect"
import * as Server from "../src/Server.ts"
import { Settings } from "../src/settings/Settings.ts"

/** Memoizes as the framework does, and keeps each service that a layer brings, by its key. */
const observed = () => {
  const instances = new Map<string, Set<unknown>>()
  const inner = Layer.makeMemoMapUnsafe()
  const memoMap: Layer.MemoMap = Object.assign(Object.create(inner) as Layer.MemoMap, {
    getOrElseMemoize: <RIn, E, ROut>(
      ...[built, scope, build]: Parameters<typeof inner.getOrElseMemoize<RIn, E, ROut>>
    ) =>
      Effect.tap(
        inner.getOrElseMemoize<RIn, E, ROut>(built, scope, (_, inside) => build(memoMap, inside)),
        ({ mapUnsafe }) =>
          Effect.sync(() => {
            for (const [key, service] of mapUnsafe) instances.set(key, (instances.get(key) ?? new Set()).add(service))
          })
      )
  })
  return { instances, memoMap }
}

const settings = Layer.unwrap(
  Effect.map(TestDatabase, ({ serverUrl }) =>
    Settings.layer.pipe(
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            CT_CONTROL_PLANE_LISTEN: "127.0.0.1:0",
            CT_CP_DATABASE_URL: Redacted.value(serverUrl),
            CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken,
            CT_CP_SEAL_KEY: TestServer.sealKey
          })
        )
      )
    )
  )
)

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("the layers of the server", (it) => {
  it.effect("build each service once, however many services use it", () =>
    Effect.gen(function* () {
      const { instances, memoMap } = observed()
      const whole = Server.layer.pipe(
        Layer.provide(settings),
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal"))
      )
      yield* Effect.flatMap(Effect.scope, (scope) => Layer.buildWithMemoMap(whole, memoMap, scope))
      const own = [...instances].filter(([key]) => key.startsWith("server/") || key.startsWith("effect/sql"))
      assert.isAbove(own.length, 60)
      const twice = own.flatMap(([key, built]) => (built.size > 1 ? [`${key}: ${built.size}`] : []))
      assert.deepStrictEqual(twice, [])
    }).pipe(Effect.scoped)
  )
})
