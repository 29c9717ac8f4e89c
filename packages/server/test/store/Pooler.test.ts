/** The control plane behind PgBouncer in each of its modes, with no line in its configuration for us. */
import { until } from "@catenet/testing/Eventually"
import { account, ask, person, tally } from "@catenet/testing/server/channels/Asking"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { headersOf } from "@catenet/testing/server/Contract"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Queue, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Settings } from "../../src/settings/Settings.ts"
import { backup } from "../../src/store/Backup.ts"
import * as Database from "../../src/store/Database.ts"
import { migrateTo } from "../../src/store/Migrations.ts"
import * as PgBouncer from "../harness/PgBouncer.ts"
import { openStream } from "../portal/EventStream.ts"

/** Requests to a whole server; a run that measures sets more. */
const requests = Number(process.env["CATENET_POOLER_REQUESTS"] ?? "200")

type Variables = Readonly<Record<string, string>>

const clientOf = (url: Redacted.Redacted, variables: Variables = {}) =>
  Layer.fresh(
    Database.layerClient.pipe(
      Layer.provideMerge(Settings.layer),
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            CT_CP_DATABASE_URL: Redacted.value(url),
            CT_CP_DATABASE_POOL: "4",
            ...variables
          })
        )
      )
    )
  )

const startFailure = (url: Redacted.Redacted, variables: Variables = {}) =>
  migrateTo(0).pipe(
    Effect.provide(clientOf(url, variables)),
    Effect.flip,
    Effect.map((error) => error.message)
  )

const numbers = Array.from({ length: 500 }, (_, n) => n)

/** Five hundred statements at once, each fifth in a transaction with its time limits; then a signal arrives. */
const works = Effect.gen(function* () {
  yield* migrateTo(0)
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.forEach(
    numbers,
    (n) => {
      const asked = sql<{
        n: number
        limit: string
      }>`select ${n}::int as n, current_setting('statement_timeout') as limit`
      return n % 5 === 0 ? sql.withTransaction(asked) : asked
    },
    { concurrency: 100 }
  )
  assert.deepStrictEqual(
    rows.map(([row]) => row?.n),
    numbers
  )
  for (const n of numbers.filter((each) => each % 5 === 0)) assert.strictEqual(rows[n]?.[0]?.limit, "30s")
  const listening = yield* sql.listen("news")
  yield* sql.notify("news", "one")
  return (yield* Queue.take(listening)).payload
}).pipe(Effect.scoped)

/** Sessions of the server keep no lock; a transaction of the test beside ends. */
const keepNothing = (url: Redacted.Redacted) =>
  until(
    SqlClient.SqlClient.use(
      (sql) => sql`select pid, classid from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`
    ),
    (held) => held.length === 0
  ).pipe(Effect.provide(clientOf(url)))

describe.skipIf(!PgBouncer.isInstalled)("behind PgBouncer (needs `pgbouncer`)", { concurrent: true }, () => {
  layer(Layer.provideMerge(TestIssuer.layer, TestDatabase.layer), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })((it) => {
    it.effect("sessions and transactions both work, and listen at the server itself where it is named", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const bySession = (yield* PgBouncer.start("session", url))(url)
        const byTransaction = (yield* PgBouncer.start("transaction", url))(url)
        const direct = { CT_CP_DATABASE_DIRECT_URL: Redacted.value(url) }
        const outcomes = yield* Effect.all(
          [
            works.pipe(Effect.provide(clientOf(bySession))),
            works.pipe(Effect.provide(clientOf(byTransaction, direct))),
            // Listening is a look each second there, which brings no payload.
            works.pipe(
              Effect.provide(clientOf(byTransaction)),
              Effect.provideService(References.MinimumLogLevel, "Error")
            )
          ],
          { concurrency: 3 }
        )
        assert.deepStrictEqual(outcomes, ["one", "one", ""])
        yield* keepNothing(url)
      }).pipe(Effect.scoped)
    )

    it.effect("what cannot work is refused at the start, with what to do", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const byStatement = (yield* PgBouncer.start("statement", url))(url)
        const byTransaction = (yield* PgBouncer.start("transaction", url))(url)
        const refusals = yield* Effect.all(
          [
            startFailure(byStatement, { CT_CP_DATABASE_DIRECT_URL: Redacted.value(url) }),
            startFailure(byTransaction, { CT_CP_DATABASE_DIRECT_URL: Redacted.value(byTransaction) }),
            startFailure(url, { CT_CP_DATABASE_DIRECT_URL: `${Redacted.value(url)}_absent` }),
            backup(join(mkdtempSync(join(tmpdir(), "catenet-pooled-")), "dump")).pipe(
              Effect.provide(clientOf(byTransaction)),
              Effect.flip,
              Effect.map((error) => error.message)
            )
          ],
          { concurrency: 4 }
        )
        assert.match(
          refusals[0],
          /ends a connection that begins a transaction, .*; set its pool_mode to transaction\.$/
        )
        assert.match(refusals[1], /^CT_CP_DATABASE_DIRECT_URL does not bring .*; name the same database at the server/)
        assert.match(refusals[2], /^CT_CP_DATABASE_DIRECT_URL cannot be used: There is no such database .*[^.]\.$/)
        assert.match(refusals[3], /through a connection pooler; name the server itself by CT_CP_DATABASE_DIRECT_URL\.$/)
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error"))
    )

    it.effect(`a whole server answers ${requests} requests in transaction mode, and its pages stay fresh`, () =>
      Effect.gen(function* () {
        const { serverUrl } = yield* TestDatabase
        const { issuer } = yield* TestIssuer
        const pooled = (yield* PgBouncer.start("transaction", serverUrl))(serverUrl)
        const server = TestServer.replica({ CT_OIDC_ISSUER: issuer, CT_CP_DATABASE_URL: Redacted.value(pooled) })
        yield* Effect.gen(function* () {
          const kim = account("pooler-kim")
          const { body } = yield* ask(kim, "/me/topologies", {})
          const topology = `/me/topologies/${String(body["id"])}`
          const agents = ["a", "b", "c", "d"].map((name) => keyOf(`pooler ${name}`))
          for (const agent of agents) yield* ask(kim, `${topology}/agents`, { agent })
          const from = performance.now()
          const answers = yield* Effect.forEach(
            Array.from({ length: requests }, (_, n) => n),
            (n) =>
              n % 4 === 0
                ? ask(kim, `${topology}/agents/${agents[(n % 16) / 4]}/label`, { label: `nr ${n}` }, { method: "PUT" })
                : ask(kim, n % 4 === 1 ? "/me/account" : topology),
            { concurrency: 64 }
          )
          const seconds = (performance.now() - from) / 1_000
          if (process.env["CATENET_POOLER_REQUESTS"] !== undefined)
            process.stderr.write(`${requests} requests in ${seconds.toFixed(1)} s\n`)
          assert.deepStrictEqual(
            Object.keys(tally(answers)).filter((status) => Number(status) >= 300),
            []
          )

          const headers = yield* headersOf(person("pooler-kim"))
          const { until: seen } = yield* openStream(`/portal/events?topology=${String(body["id"])}&seen=0`, headers)
          const changed = "event: topology\ndata:\n\n"
          yield* seen(changed)
          yield* ask(kim, `${topology}/agents`, { agent: keyOf("pooler last") })
          assert.include(yield* seen(changed), changed)
        }).pipe(Effect.provide(server))
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error"))
    )
  })
})
