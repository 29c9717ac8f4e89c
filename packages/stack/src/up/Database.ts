/** The stack's database: the server that was named, or an embedded one that is started again whenever it ends. */
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Redacted, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Cluster from "../postgres/Cluster.ts"
import type * as Supervisor from "../supervisor/Supervisor.ts"
import type { PostgresFailed } from "../postgres/PostgresFailed.ts"
import type { Folder } from "./Folder.ts"

const name = "catenet"

const createDatabase = (cluster: Cluster.Cluster) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const found = yield* sql`select 1 from pg_database where datname = ${name}`
    if (found.length === 0) yield* sql`create database ${sql(name)}`
  }).pipe(Effect.provide(PgClient.layer({ url: cluster.url("postgres"), maxConnections: 1 })), Effect.orDie)

/** Succeeds with a connection URL once the server takes connections. */
export const open = Effect.fn("Database.open")(function* (
  folder: Folder,
  external: string | undefined,
  { started, stopping }: Pick<Supervisor.Options, "started" | "stopping">
): Effect.fn.Return<Redacted.Redacted, PostgresFailed, Scope.Scope> {
  if (external !== undefined) return Redacted.make(external)
  const first = yield* Deferred.make<Redacted.Redacted, PostgresFailed>()

  const runOnce = Effect.scoped(
    Effect.gen(function* () {
      const cluster = yield* Cluster.start({ folder: folder.postgres })
      yield* createDatabase(cluster)
      yield* started("postgres", cluster.pid)
      yield* Deferred.succeed(first, cluster.url(name))
      yield* cluster.ended
      if (stopping()) return yield* Effect.never
      yield* Effect.logWarning("postgres ended; starting it again")
    })
  )

  yield* Effect.forkScoped(
    runOnce.pipe(
      Effect.tapError((failure) => Deferred.fail(first, failure)),
      Effect.tapError((failure) => Effect.logError(failure.message)),
      Effect.retry({ schedule: Schedule.spaced("1 second") }),
      Effect.forever
    )
  )
  return yield* Deferred.await(first)
})
