import * as DataFolder from "@catenet/testing/stack/postgres/DataFolder"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { chmodSync, lstatSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cluster from "../../src/postgres/Cluster.ts"

const scratch = Effect.acquireRelease(
  Effect.sync(() => join(temporaryRoot(), `catenet-cluster-${randomBytes(8).toString("hex")}`)),
  (folder) => Effect.sync(() => DataFolder.remove(folder))
)

const query = (cluster: Cluster.Cluster, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.unsafe(statement)
  }).pipe(Effect.provide(PgClient.layer({ url: cluster.url("postgres") })), Effect.orDie)

describe("an embedded PostgreSQL", () => {
  it.live("keeps its data and its port over a restart", () =>
    Effect.gen(function* () {
      const folder = yield* scratch
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const cluster = yield* Cluster.start({ folder, disposable: true })
          yield* query(cluster, "create table kept as select 42 as answer")
          return cluster.port
        })
      )
      const second = yield* Cluster.start({ folder, disposable: true })
      assert.strictEqual(second.port, first)
      assert.deepStrictEqual(yield* query(second, "select answer from kept"), [{ answer: 42 }])
    }).pipe(Effect.scoped)
  )

  it.live("comes back after a kill of the server, with what was committed", () =>
    Effect.gen(function* () {
      const folder = yield* scratch
      const first = yield* Cluster.start({ folder })
      yield* query(first, "create table kept as select 1 as one")
      process.kill(first.pid, "SIGKILL")
      yield* first.ended
      const second = yield* Cluster.start({ folder })
      assert.deepStrictEqual(yield* query(second, "select one from kept"), [{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("takes the data back from a server whose parent is gone", () =>
    Effect.gen(function* () {
      const folder = yield* scratch
      const orphan = yield* Cluster.start({ folder, disposable: true })
      const heir = yield* Cluster.start({ folder, disposable: true })
      yield* orphan.ended
      assert.notStrictEqual(heir.pid, orphan.pid)
      assert.deepStrictEqual(yield* query(heir, "select 1 as one"), [{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(process.getuid?.() !== 0)("runs for root below a folder that only root may enter", () =>
    Effect.gen(function* () {
      const closed = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-closed-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const folder = join(closed, "data")
      const open = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-open-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      chmodSync(open, 0o711)
      const cluster = yield* Cluster.start({ folder, disposable: true, systemFolder: join(open, "catenet") })
      assert.isTrue(lstatSync(folder).isSymbolicLink())
      assert.deepStrictEqual(yield* query(cluster, "select 1 as one"), [{ one: 1 }])
    }).pipe(Effect.scoped)
  )
})
