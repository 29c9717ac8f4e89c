import { until } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient } from "@effect/sql-pg"
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

it("numbers ascend, and 0011, which was given up before it was released, stays unused", () => {
  const numbers = Object.keys(migrations).map((name) => Number.parseInt(name, 10))
  assert.deepStrictEqual(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b)
  )
  assert.notInclude(numbers, 11)
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
          where locktype = 'advisory' and not granted`
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
        assert.strictEqual((yield* migrateTo(1)).length, 1)
        yield* sql`create table tunnels (in_the_way integer)`
        assert.strictEqual((yield* Effect.flip(migrate))._tag, "MigrationFailed")
        const [row] = yield* sql<{ found: string | null }>`select to_regclass('join_tokens')::text as found`
        assert.isNull(row?.found)
      })
    )
  )
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true, timeout: "30 seconds" })("every migration", (it) => {
  it.effect("keeps the rows that it finds, step by step to the newest", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const numbers = Object.keys(migrations).map((name) => Number.parseInt(name, 10))
        for (const number of numbers) {
          yield* migrateTo(number)
          if (number === 3) {
            yield* sql`insert into tunnels (id, subject, name, hostname, routing_token, created_at)
              values (${"1".repeat(32)}, 's', 'n', 'a.example.test', ${"2".repeat(64)}, 1)`
            yield* sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
              values ('a.example.test', ${"2".repeat(64)}, 'primary', 1, 'gelb', 'queued', 1)`
          }
          if (number === 31) {
            const revoked = "c".repeat(64)
            yield* sql`insert into revoked_tokens (routing_token, revoked_at) values (${revoked}, 1)`
            yield* sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
              values ('blocked.example.test', ${revoked}, 'primary', 1, 'gelb', 'queued', 1)`
          }
          if (number === 8) {
            yield* sql`insert into channels values (${"3".repeat(64)}, 's', ${"4".repeat(64)}, 1)`
          }
          if (number === 56) {
            yield* sql`insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at, redeemed_at) values
              (${"a".repeat(64)}, '\\x01', 1, 2, null), (${"b".repeat(64)}, null, 1, 2, 1)`
          }
          if (number === 15) {
            yield* sql`insert into share_links (id, tunnel_id, host, single_use, token_hash, created_at, expires_at)
              values (${"6".repeat(32)}, ${"1".repeat(32)}, 'a.example.test', false, ${"7".repeat(64)}, 1, 2)`
            yield* sql`insert into gate_sessions (token_hash, host, email, share_link_id, expires_at) values
              (${"8".repeat(64)}, 'a.example.test', null, ${"6".repeat(32)}, 2),
              (${"9".repeat(64)}, 'a.example.test', 'v@example.test', null, 2)`
          }
          if (number === 15) {
            const delivery = (id: string, status: string, detail: string) =>
              sql`insert into alert_deliveries ${sql.insert({
                message_id: id,
                subject: "s",
                tunnel_id: "1".repeat(32),
                event: "tunnel.test",
                since: 1,
                threshold_seconds: 60,
                at: 1,
                status,
                detail
              })}`
            yield* delivery("m1", "ok", "it answered 204")
            yield* delivery("m2", "failed", "it answered 503")
            yield* delivery("m3", "failed", "its address is not on the public internet")
            yield* delivery("m4", "skipped", "the account's budget is spent")
            yield* delivery("m5", "pending", "")
          }
          if (number === 23) {
            const session = (hash: string, subject: string, email: string | null, at: number) =>
              sql`insert into portal_sessions (token_hash, subject, email, user_agent, created_at, seen_at, expires_at)
                values (${hash.repeat(64)}, ${subject}, ${email}, '', ${at}, ${at}, ${at})`
            yield* session("1", "s", "old@example.test", 1)
            yield* session("2", "s", "new@example.test", 2)
            yield* session("3", "t", null, 3)
          }
          if (number === 18) {
            yield* sql`insert into tunnels (id, subject, name, hostname, routing_token, created_at)
              values (${"a".repeat(32)}, 's', 'n', 'n-043a7187.example.test', ${"b".repeat(64)}, 2)`
          }
          if (number === 30) {
            yield* sql`insert into agents (tenant, agent, tunnel, pubkey, bound_at)
              values ('s', 'n', ${"1".repeat(32)}, ${"c".repeat(64)}, 1)`
          }
          if (number === 54) {
            yield* sql`insert into topology_agents (agent, owner) values (${"d".repeat(64)}, 's')`
            yield* sql`insert into join_batches values ('key', 's', 2)`
          }
          if (number === 12) {
            const account = "5".repeat(64)
            yield* sql`insert into accounts (account, balance, created_at) values (${account}, 7, 1)`
            yield* sql`insert into credit_ledger (account, delta, reason, at) values (${account}, 7, 'paid', 1)`
          }
        }
        const [tunnel] = yield* sql`select name, hostname, bridge_mode, require_login from tunnels order by id`
        assert.deepStrictEqual(
          { ...tunnel },
          { name: "n", hostname: "a.example.test", bridge_mode: "off", require_login: false }
        )
        const claims = yield* sql<{
          hostname: string
          proved_at: null
          provisioned: boolean
        }>`select hostname, proved_at, provisioned from hostname_claims
          order by hostname`
        assert.deepStrictEqual(
          claims.map(({ hostname, proved_at, provisioned }) => ({ hostname, proved_at, provisioned })),
          ["a.example.test", "n-043a7187.example.test"].map((hostname) => ({
            hostname,
            proved_at: null,
            provisioned: false
          })),
          "the names have no known author"
        )
        const hosts = yield* sql<{ hostname: string }>`select hostname from hosts`
        assert.deepStrictEqual(
          hosts.map(({ hostname }) => hostname),
          ["a.example.test"],
          "a name that was bound to a revoked token is free"
        )
        const [account] = yield* sql<{ balance: bigint }>`select balance from accounts`
        assert.strictEqual(account?.balance, 7n)
        const [host] = yield* sql`select status, claim, edge_id from hosts`
        assert.deepStrictEqual({ ...host }, { status: "gelb", claim: "queued", edge_id: "primary" })
        const [channel] = yield* sql`select owner from channels`
        assert.deepStrictEqual({ ...channel }, { owner: "s" })
        const sessions = yield* sql`select host from gate_sessions`
        assert.deepStrictEqual(sessions, [], "the cookies of the zone, which every host of it was sent, open nothing")
        const records = yield* sql<{ hostname: string }>`select hostname from address_records where wanted`
        assert.deepStrictEqual(
          records.map(({ hostname }) => hostname),
          ["n-043a7187.example.test"],
          "of the names there are, those that were given out"
        )
        const agents = yield* sql<{ pubkey: string; grantee: null }>`select pubkey, grantee from agents`
        assert.deepStrictEqual(
          agents.map(({ grantee, pubkey }) => [pubkey, grantee]),
          [["c".repeat(64), null]]
        )
        const batches = yield* sql`select count, salt from join_batches`
        assert.deepStrictEqual({ ...batches[0] }, { count: 2, salt: "" }, "its tokens follow from its key alone")
        const placed = yield* sql`select owner, proved from topology_agents`
        assert.deepStrictEqual({ ...placed[0] }, { owner: "s", proved: false })
        const seen = yield* sql<{ subject: string; email: string }>`select subject, email from account_emails`
        assert.deepStrictEqual(
          seen.map(({ email, subject }) => [subject, email]),
          [["s", "new@example.test"]]
        )
        const deliveries = yield* sql<{ detail: string }>`select detail from alert_deliveries order by message_id`
        assert.deepStrictEqual(
          deliveries.map(({ detail }) => detail),
          ["delivered", "not delivered", "refused by policy", "the account's budget is spent", ""]
        )
        const bootstraps = yield* sql<{ sealed: boolean; redeemedBy: null }>`select sealed is not null as sealed,
          redeemed_by as "redeemedBy" from bootstrap_tokens order by token_hash`
        assert.deepStrictEqual(
          bootstraps.map(({ redeemedBy, sealed }) => [sealed, redeemedBy]),
          [
            [true, null],
            [false, null]
          ]
        )
        assert.deepStrictEqual(yield* migrate, [])
      })
    )
  )

  it.effect("refuses ids that are not hex digits as before, at less cost", () =>
    asReplica(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const register = (channel: string) =>
          sql`insert into channels values (${channel}, 's', ${"4".repeat(64)}, 1)`.pipe(Effect.result)
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
