/**
 * A copy of the embedded PostgreSQL's data folder, of a server that runs or of one that does not. A running one is told, keeps the
 * log that the copy needs, and serves all the time (PostgreSQL's documentation, "Making a Base Backup Using the Low Level API").
 * The copy starts with the same major version.
 */
import { Files } from "@catenet/platform/Files"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { failed } from "./Binaries.ts"
import * as Cluster from "./Cluster.ts"
import { copyFolder } from "./FolderCopy.ts"

const pidFile = "postmaster.pid"

/** Of a running server: rebuilt or emptied by the next start. */
const emptied = /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/./u
const ofOneRun = /(?:^|\/)(?:postmaster\.(?:pid|opts)|pgsql_tmp[^/]*|pg_internal\.init)$/u

const copying = (from: string, to: string, skip: (path: string) => boolean) =>
  Effect.tryPromise({ try: () => copyFolder(from, to, skip), catch: failed("backup") })

const Stopped = Schema.Struct({ labelfile: Schema.String })

const withServer = Effect.fn("ClusterBackup.withServer")(function* (data: string, to: string) {
  const sql = yield* SqlClient.SqlClient
  // One session from beginning to end: the server gives the copy up with it.
  const held = yield* sql.reserve
  const run = (text: string) => held.executeUnprepared(text, [], undefined)
  yield* run("select pg_create_physical_replication_slot('catenet_backup_' || pg_backend_pid(), true, true)::text")
  yield* run("select pg_backup_start('catenet', true)::text")
  yield* copying(data, to, (path) => emptied.test(path) || ofOneRun.test(path))
  const [row] = yield* run("select labelfile from pg_backup_stop(false)")
  const { labelfile } = yield* Schema.decodeUnknownEffect(Stopped)(row)
  Files.writeFileSync(join(to, "backup_label"), labelfile, { mode: 0o600, flag: "wx" })
  Files.rmSync(join(to, "pg_wal"), { recursive: true, force: true })
  yield* copying(join(data, "pg_wal"), join(to, "pg_wal"), () => false)
}, Effect.scoped)

/** Whether the server of this data folder runs. */
const isRunning = (data: string) => {
  const path = join(data, pidFile)
  if (!Files.existsSync(path)) return false
  try {
    process.kill(Number(Files.readFileSync(path, "utf8").split("\n")[0]), 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Copies the server's data from `folder` to `to`, which must not exist. */
export const backup = Effect.fn("ClusterBackup.backup")(function* (folder: string, to: string) {
  const data = yield* Effect.try({ try: () => Files.realpathSync(folder), catch: failed("backup") })
  if (!isRunning(data)) return yield* copying(data, to, (path) => ofOneRun.test(path))
  const url = yield* Cluster.urlOf(folder)
  yield* withServer(data, to).pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1 })),
    Effect.mapError(failed("backup"))
  )
})
