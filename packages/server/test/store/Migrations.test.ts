import { until } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, References, Result } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseUnreachable } from "../../src/store/DatabaseAvailability.ts"
import { lock, migrate, migrateTo } from "../../src/store/Migrations.ts"
import { migrations } from "../../src/store/migrations/Registry.ts"

/** A client of its own, as another replica would have. */
const asReplica = Effect.provide(
  Layer.fresh(Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url, maxConnections: 3 })))).pipe(
    Layer.merge(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )
)
const total = Object.keys(migrations).length
/** The schema of the first release. */
const baseline = 123

it("numbers ascend, and the schema of the first release comes first", () => {
  const names = Object.keys(migrations)
  const numbers = names.map((name) => Number.parseInt(name, 10))
  assert.deepStrictEqual(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b)
  )
  assert.strictEqual(names[0], "0123_baseline")
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true, timeout: "30 seconds" })("an empty database", (it) => {
  it.effect("is migrated once by replicas that start together", () =>
    Effect.gen(function* () {
      const runs = yield* Effect.all(
        Array.from({ length: 4 }, () => asReplica(migrate)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(runs.map((applied) => applied.length).sort(), [0, 0, 0, total])
      assert.deepStrictEqual(yield* asReplica(migrate), [])
    })
  )

  it.effect("is out of reach, and no fault, when it goes away in the middle of a migration", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const holding = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const holder = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`select pg_advisory_xact_lock(${lock})`
              yield* Deferred.succeed(holding, undefined)
              yield* Deferred.await(go)
            })
          )
        )
        yield* Deferred.await(holding)
        const waiting = yield* Effect.forkChild(asReplica(Effect.exit(migrate)))
        const terminated = sql<{ ended: boolean }>`select pg_terminate_backend(pid) as ended from pg_locks
          where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`
        const ended = yield* until(terminated, (rows) => rows.length > 0)
        const exit = yield* Fiber.join(waiting)
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(holder)
        assert.deepStrictEqual(ended, [{ ended: true }])
        const [failure, ...others] = Exit.isFailure(exit) ? exit.cause.reasons : []
        assert.isTrue(failure && Cause.isFailReason(failure) && failure.error instanceof DatabaseUnreachable)
        assert.deepStrictEqual(others, [])
      })
    )
  )

  it.effect("is refused when a newer program has changed it", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into schema_migrations (migration_id, name) values (9999, 'of_the_future')`
        const refusal = yield* Effect.flip(migrate)
        assert.strictEqual(refusal._tag, "SchemaTooNew")
        assert.include(refusal.message, "9999")
      })
    )
  )
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true, timeout: "30 seconds" })("a database in use", (it) => {
  it.effect("is at the version that was asked for, and a failed migration leaves no trace", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* migrateTo(0), [])
        yield* sql`create table tunnels (in_the_way integer)`
        assert.strictEqual((yield* Effect.flip(migrate))._tag, "MigrationFailed")
        const [row] = yield* sql<{ found: string | null }>`select to_regclass('accounts')::text as found`
        assert.isNull(row?.found)
        yield* sql`drop table tunnels`
        assert.strictEqual((yield* migrateTo(baseline)).length, 1)
      })
    )
  )
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true, timeout: "30 seconds" })("every migration", (it) => {
  it.effect("keeps the rows that it finds, step by step to the newest", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrateTo(baseline)
        yield* sql`insert into tunnels (id, subject, name, hostname, routing_token, created_at, http_only)
          values (${"1".repeat(32)}, 's', 'n', 'a.example.test', ${"2".repeat(64)}, 1, true)`
        yield* sql`insert into outbox (queue, edge, about, call, created_at, due_at) values (${"2".repeat(64)}, 'primary',
          'SetHttpOnly', ${PgTypes.jsonb({ _tag: "SetHttpOnly", required: true })}, 1, 1)`
        yield* sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
          values ('a.example.test', ${"2".repeat(64)}, 'primary', 1, 'gelb', 'queued', 1)`
        yield* sql`insert into channels (channel, owner, operator_pubkey, created_at)
          values (${"3".repeat(64)}, 's', ${"4".repeat(64)}, 1)`
        const account = "5".repeat(64)
        yield* sql`insert into accounts (account, balance, created_at) values (${account}, 0, 1)`
        yield* sql`insert into credit_ledger (account, delta, reason, at) values (${account}, 7, 'paid', 1)`
        for (const name of Object.keys(migrations)) yield* migrateTo(Number.parseInt(name, 10))
        const [tunnel] = yield* sql`select name, hostname, bridge_mode, require_login, options from tunnels`
        const options = { http_only: true }
        assert.deepStrictEqual(
          { ...tunnel },
          { name: "n", hostname: "a.example.test", bridge_mode: "off", require_login: false, options }
        )
        const [order] = yield* sql`select about, call from outbox`
        assert.deepStrictEqual({ ...order }, { about: "SetOptions", call: { _tag: "SetOptions", options } })
        const [host] = yield* sql`select status, claim, edge_id from hosts`
        assert.deepStrictEqual({ ...host }, { status: "gelb", claim: "queued", edge_id: "primary" })
        const [channel] = yield* sql`select owner from channels`
        assert.deepStrictEqual({ ...channel }, { owner: "s" })
        const [balance] = yield* sql<{ balance: bigint }>`select balance from accounts`
        assert.strictEqual(balance?.balance, 7n)
        assert.deepStrictEqual(yield* migrate, [])
      })
    )
  )

  it.effect("refuses ids that are not hex digits, without counting them by a regular expression", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const register = (channel: string) =>
          sql`insert into channels (channel, owner, operator_pubkey, created_at)
          values (${channel}, 's', ${"4".repeat(64)}, 1)`.pipe(Effect.result)
        for (const wrong of [
          "c".repeat(63),
          "c".repeat(65),
          "C".repeat(64),
          `${"c".repeat(63)}g`,
          `${"c".repeat(63)}\n`
        ])
          assert.isTrue(Result.isFailure(yield* register(wrong)), wrong)
        assert.isTrue(Result.isSuccess(yield* register("c".repeat(64))))
        const counted = yield* sql`select conname from pg_constraint where contype = 'c'
          and pg_get_constraintdef(oid) ~ '~ ''\\^\\[0-9a-f\\]\\{'`
        assert.deepStrictEqual(counted, [])
      })
    )
  )

  it.effect("keeps e-mail addresses by their ASCII letters, whatever the locale", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const visitor = (email: string) =>
          sql`insert into tunnel_visitors ${sql.insert({ tunnel_id: "1".repeat(32), email })}`.pipe(Effect.result)
        for (const right of ["\u00c9ve@example.test", "\u00e9ve@example.test", "\u212a@example.test"])
          assert.isTrue(Result.isSuccess(yield* visitor(right)), right)
        assert.isTrue(Result.isFailure(yield* visitor("Eve@example.test")))
        const left = yield* sql`select conname from pg_constraint where contype = 'c'
          and pg_get_constraintdef(oid) ~ '(email|actor) = lower\\((email|actor)\\)'`
        assert.deepStrictEqual(left, [])
      })
    )
  )
})
