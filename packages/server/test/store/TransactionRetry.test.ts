/** Transactions that take two locks in opposite orders: the one that the database gives up is made again. */
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Layer, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"

const database = Layer.unwrap(
  Effect.map(TestDatabase, ({ url }) =>
    Database.layerClient.pipe(
      Layer.provide(Settings.layer),
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: Redacted.value(url), CT_CP_SEAL_KEY: "5e".repeat(32) })
        )
      )
    )
  )
).pipe(Layer.provide(TestDatabase.layer), Layer.provideMerge(LoggedErrors.layer))

const failure = (reason: SqlError.SqlErrorReason) => new SqlError.SqlError({ reason })
const deadlock = failure(new SqlError.DeadlockError({ cause: new Error("deadlock detected") }))

layer(database, { excludeTestServices: true, timeout: "60 seconds" })("contention", (it) => {
  it.effect("both of two transactions end that wait for each other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [one, two] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const lock = (key: number) => sql`select pg_advisory_xact_lock(77, ${key})`
      let runs = 0
      const taking = (first: number, mine: Deferred.Deferred<void>, other: Deferred.Deferred<void>) =>
        Effect.gen(function* () {
          runs++
          yield* lock(first)
          yield* Deferred.succeed(mine, undefined)
          yield* Deferred.await(other)
          yield* Effect.orDie(lock(3 - first))
          return first
        }).pipe(sql.withTransaction)
      const ended = yield* Effect.all([taking(1, one, two), taking(2, two, one)], { concurrency: 2 })
      assert.deepStrictEqual([ended, runs], [[1, 2], 3])
      assert.match(LoggedErrors.said(), /victim of a deadlock.*deadlock detected/su)
    })
  )

  it.effect("three times and no more, as a whole, and for no other reason", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let runs = 0
      const failing = (error: SqlError.SqlError) =>
        Effect.andThen(
          Effect.sync(() => void runs++),
          Effect.fail(error)
        )
      const after = (transaction: Effect.Effect<unknown, unknown>) =>
        Effect.as(Effect.flip(Effect.sandbox(Effect.suspend(() => ((runs = 0), transaction)))), undefined).pipe(
          Effect.map(() => runs)
        )
      assert.strictEqual(yield* after(sql.withTransaction(failing(deadlock))), 4)
      assert.strictEqual(yield* after(sql.withTransaction(Effect.orDie(failing(deadlock)))), 4)
      assert.strictEqual(yield* after(sql.withTransaction(sql.withTransaction(failing(deadlock)))), 4)
      const broken = failure(new SqlError.ConstraintError({ cause: new Error("no") }))
      assert.strictEqual(yield* after(sql.withTransaction(failing(broken))), 1)
    })
  )
})
