import { Settings } from "@catenet/server/internal/settings/Settings"
import * as Database from "@catenet/server/internal/store/Database"
import { until } from "@catenet/testing/Eventually"
import * as DataFolder from "@catenet/testing/stack/postgres/DataFolder"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync, copyFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cluster from "../../src/postgres/Cluster.ts"

const scratch = Effect.acquireRelease(
  Effect.sync(() => join(temporaryRoot(), `catenet-cluster-${randomBytes(8).toString("hex")}`)),
  (folder) => Effect.sync(() => DataFolder.remove(folder))
)

it.live("a control plane follows the writes to the server that takes them, in the order of its URL", () =>
  Effect.gen(function* () {
    const [one, two] = [yield* scratch, yield* scratch]
    const primaryScope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(primaryScope, exit))
    yield* Effect.scoped(Cluster.start({ folder: one, disposable: true }))
    // Keeps the owner, which is another account where root runs this.
    execFileSync("cp", ["-a", realpathSync(one), two])
    copyFileSync(Cluster.passwordFile(one), Cluster.passwordFile(two))
    const primary = yield* Scope.provide(Cluster.start({ folder: one, disposable: true }), primaryScope)
    const password = Redacted.value(primary.password)
    appendFileSync(
      join(two, "postgresql.auto.conf"),
      `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=catenet password=${password}'\n`
    )
    writeFileSync(join(two, "standby.signal"), "")
    const standby = yield* Cluster.start({ folder: two, disposable: true })
    const url = `postgres://catenet:${password}@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres?target_session_attrs=read-write`
    const context = yield* Layer.build(
      Database.layerClient.pipe(
        Layer.provide(Settings.layer),
        Layer.provide(
          ConfigProvider.layer(
            ConfigProvider.fromUnknown({
              CT_CP_DATABASE_URL: url,
              CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32),
              CT_CP_SEAL_KEY: "5e".repeat(32),
              CT_CP_DATABASE_POOL: "4"
            })
          )
        )
      )
    )
    const sql = yield* Effect.provide(SqlClient.SqlClient, context)
    yield* sql`create table kept (n integer primary key)`
    const acknowledged: Array<number> = []
    const write = (n: number) =>
      sql`insert into kept values (${n})`.pipe(
        Effect.map(() => void acknowledged.push(n)),
        Effect.isSuccess
      )
    for (let n = 0; n < 10; n++) assert.isTrue(yield* write(n))
    // Stopped in order, it hands all it has acknowledged to the standby.
    yield* Scope.close(primaryScope, Exit.void)
    assert.isFalse(yield* write(10))
    yield* SqlClient.SqlClient.use((direct) => direct`select pg_promote()`).pipe(
      Effect.provide(PgClient.layer({ url: standby.url("postgres") }))
    )
    let n = 11
    yield* until(
      Effect.suspend(() => write(n++)),
      (isWritten) => isWritten
    )
    const kept = yield* sql<{ readonly n: number }>`select n from kept order by n`
    assert.includeMembers(
      kept.map((row) => row.n),
      acknowledged
    )
  }).pipe(Effect.scoped)
)
