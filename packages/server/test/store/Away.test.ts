import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isAway } from "../../src/store/Away.ts"
import { TestDatabase } from "../harness/TestDatabase.ts"

const failure = (url: Redacted.Redacted, statement: string) =>
  SqlClient.SqlClient.use((sql) => Effect.flip(sql.unsafe(statement))).pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1 })),
    Effect.catch((error) => Effect.succeed(error))
  )

layer(TestDatabase.layer, { excludeTestServices: true })("a database", (it) => {
  it.effect("is away when it ends the connection or when nobody answers, and not when it refuses a statement", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      assert.isTrue(isAway(yield* failure(url, "select pg_terminate_backend(pg_backend_pid())")))
      assert.isTrue(isAway(yield* failure(Redacted.make("postgres://nobody@127.0.0.1:1/none"), "select 1")))
      assert.isFalse(isAway(yield* failure(url, "select 1 / 0")))
      assert.isFalse(isAway(yield* failure(url, "select nonsense")))
      assert.isFalse(isAway(new Error("something else")))
    })
  )
})
