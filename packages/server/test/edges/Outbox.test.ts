import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Outbox, deliveryLoop } from "../../src/edges/Outbox.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"

const tokens = Array.from({ length: 6 }, (_, n) => Schema.decodeSync(RoutingToken)(String(n).repeat(64)))

const settings = Layer.unwrap(
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const edge = yield* RecordingEdge
    const variables = {
      CT_CP_DATABASE_URL: Redacted.value(url),
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_URL: edge.url,
      CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32),
      CT_CP_OUTBOX_TICK_SECS: "1"
    }
    return Settings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
  })
)

/** One replica's share: its own connections, its own worker. */
const replica = Layer.fresh(
  deliveryLoop.pipe(Layer.provideMerge(Outbox.layer), Layer.provideMerge(Database.layerClient), Layer.provide(settings))
).pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal")))

const server = Layer.mergeAll(TestDatabase.layer, RecordingEdge.layer)

/** A call that its number distinguishes from others. */
const numbered = (n: number) =>
  ({
    _tag: "SetAccessPolicy",
    policy: new AccessPolicy({ expires_at: UnixSeconds.make(n), schedule: null })
  }) as const

const numberOf = (body: string) => JSON.parse(body).expires_at as number

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the outbox", (it) => {
  it.effect("delivers everything once and in order for each tunnel, with three replicas at work", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const contexts = yield* Effect.all([Layer.build(replica), Layer.build(replica), Layer.build(replica)])
      yield* Effect.forEach(
        tokens.flatMap((token) => Array.from({ length: 20 }, (_, n) => ({ token, n }))),
        ({ n, token }) =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const outbox = yield* Outbox
            yield* sql.withTransaction(outbox.append(token, numbered(n)))
          }).pipe(Effect.provide(contexts[n % 3]!))
      )
      for (const token of tokens) {
        const orders = yield* edge.about(Redacted.value(token), 20)
        assert.deepStrictEqual(
          orders.map(({ body }) => numberOf(body)),
          Array.from({ length: 20 }, (_, n) => n)
        )
      }
      const left = yield* until(
        SqlClient.SqlClient.use((sql) => sql`select id from outbox`),
        (rows) => rows.length === 0
      ).pipe(Effect.provide(contexts[0]))
      assert.strictEqual(left.length, 0)
      assert.strictEqual(edge.orders.length, tokens.length * 20)
    })
  )

  it.effect("forgets what its transaction forgot", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const context = yield* Layer.build(replica)
      const token = Schema.decodeSync(RoutingToken)("f".repeat(64))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const outbox = yield* Outbox
        const undone = sql.withTransaction(Effect.andThen(outbox.append(token, numbered(1)), Effect.fail("undone")))
        assert.strictEqual(yield* Effect.flip(undone), "undone")
        yield* sql.withTransaction(outbox.append(token, numbered(2)))
      }).pipe(Effect.provide(context))
      const orders = yield* edge.about("f".repeat(64), 1)
      assert.deepStrictEqual(
        orders.map(({ body }) => numberOf(body)),
        [2]
      )
    })
  )
})
