import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, type Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../src/store/Migrations.ts"
import * as ServerRole from "../../src/store/ServerRole.ts"

const connected = (url: Redacted.Redacted) => Effect.provide(Layer.fresh(PgClient.layer({ url, maxConnections: 2 })))
const quiet = Effect.provideService(References.MinimumLogLevel, "Fatal")

/** Runs as the owner of the schema, or as the server's role. */
const owner = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(TestDatabase, ({ url }) => connected(url)(work))
const server = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(TestDatabase, ({ serverUrl }) => connected(serverUrl)(work))

const statement = (text: string) => SqlClient.SqlClient.use((sql) => sql.unsafe(text))
const refusal = (text: string) =>
  Effect.map(Effect.flip(server(statement(text))), ({ reason }) => String(reason.cause).replaceAll(/\s+/g, " "))

const entry = (at: string) =>
  `insert into audit_log (actor, action, target, detail, at) values ('ada', 'tried', 'x', '', ${at})`
const daysAgo = (days: number) => `extract(epoch from now())::bigint - ${days} * 86400 - 60`
const entries = owner(
  SqlClient.SqlClient.use((sql) => sql<{ count: string }>`select count(*)::text as count from audit_log`)
)

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("the role of the server", (it) => {
  it.effect("is no superuser, owns nothing and cannot change the schema", () =>
    Effect.gen(function* () {
      const { owner, superuser } = yield* server(ServerRole.describe)
      assert.deepStrictEqual({ owner, superuser }, { owner: false, superuser: false })
      for (const text of [
        "create table public.mine (a int)",
        "alter table tunnels add column mine int",
        "drop table audit_log",
        "alter table audit_log disable trigger all",
        "create or replace function audit_log_prune() returns bigint language sql as 'select 1::bigint'",
        "update schema_migrations set name = 'x'"
      ])
        assert.match(yield* refusal(text), /permission denied|must be owner/, text)
    })
  )

  it.effect("can append to the audit log but not change or delete its lines", () =>
    Effect.gen(function* () {
      yield* server(statement(entry("1")))
      for (const text of [
        "update audit_log set actor = 'eve'",
        "delete from audit_log",
        "truncate audit_log",
        "select set_config('catenet.retention', 'on', false); delete from audit_log",
        "insert into audit_retention (days) values (1)"
      ])
        assert.match(yield* refusal(text), /permission denied|multiple commands|cannot insert multiple/, text)
      assert.deepStrictEqual(yield* entries, [{ count: "1" }])
      yield* owner(ServerRole.retain(undefined))
      yield* server(statement("select audit_log_prune()"))
      assert.deepStrictEqual(yield* entries, [{ count: "1" }], "kept for ever unless the owner says otherwise")
    })
  )

  it.effect("removes entries only once they are older than the owner keeps them", () =>
    Effect.gen(function* () {
      yield* owner(ServerRole.retain(30))
      yield* server(statement(entry(daysAgo(30))))
      yield* server(statement(entry(daysAgo(29))))
      yield* server(statement("select audit_log_prune()"))
      assert.deepStrictEqual(yield* entries, [{ count: "1" }])
    })
  )

  it.effect("is asked to migrate as the owner when the schema is older than the program", () =>
    Effect.gen(function* () {
      yield* owner(
        statement(
          "delete from schema_migrations where migration_id = (select max(migration_id) from schema_migrations)"
        )
      )
      const failure = yield* Effect.flip(server(migrate))
      assert.strictEqual(failure._tag, "MigrationNotAllowed")
      assert.include(failure.message, "run `catenet migrate` with the role that does")
      const start = yield* Effect.flip(Effect.scoped(Layer.build(TestServer.replica())))
      assert.include(start.message, "run `catenet migrate`")
    }).pipe(quiet)
  )
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true, timeout: "60 seconds" })("a schema of one role", (it) => {
  it.effect("keeps its audit entries until the operator sets a retention", () =>
    Effect.gen(function* () {
      yield* owner(migrate)
      yield* owner(statement(entry("1")))
      yield* owner(statement("select audit_log_prune()"))
      assert.deepStrictEqual(yield* entries, [{ count: "1" }])
      yield* owner(ServerRole.retain(1))
      yield* owner(statement("select audit_log_prune()"))
      assert.deepStrictEqual(yield* entries, [{ count: "0" }])
    }).pipe(quiet)
  )
})
