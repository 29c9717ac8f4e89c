/**
 * The stack's database: the server that was named, or an embedded one that is started again whenever it ends. In the
 * embedded one the schema belongs to a role of its own, which brings it up to date here; the control plane runs as another.
 */
import { variables } from "@catenet/server/internal/settings/Settings"
import { migrateTo } from "@catenet/server/internal/store/Migrations"
import * as ServerRole from "@catenet/server/internal/store/ServerRole"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, type Redacted, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Cluster from "../postgres/Cluster.ts"
import { PostgresFailed } from "../postgres/PostgresFailed.ts"
import * as Roles from "../postgres/Roles.ts"
import type * as Supervisor from "../supervisor/Supervisor.ts"
import type { StackFolder } from "./StackFolder.ts"

const name = "catenet"

const connected = (url: Redacted.Redacted) => Effect.provide(PgClient.layer({ url, maxConnections: 1 }))

const failed = (cause: unknown) =>
  new PostgresFailed({ step: "initialise", detail: cause instanceof Error ? cause.message : String(cause) })

const roleUrl = (cluster: Cluster.Cluster, role: string) =>
  cluster.url(name, role, Roles.passwordOf(cluster.password, role))

const createDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`select 1 from pg_database where datname = ${name}`
  if (found.length === 0) yield* sql`create database ${sql(name)}`
})

/** Makes database, roles and schema; answers the URL with which the control plane connects. */
const prepare = Effect.fn("StackDatabase.prepare")(function* (cluster: Cluster.Cluster) {
  yield* Effect.andThen(createDatabase, Roles.ensure(cluster.password)).pipe(connected(cluster.url("postgres")))
  yield* Roles.own(name).pipe(connected(cluster.url(name)))
  const auditRetentionDays = yield* variables.auditRetentionDays.config
  yield* Effect.all([migrateTo(), ServerRole.retain(auditRetentionDays), ServerRole.grant(Roles.server)]).pipe(
    connected(roleUrl(cluster, Roles.owner))
  )
  return roleUrl(cluster, Roles.server)
}, Effect.mapError(failed))

/** Succeeds with a connection URL once the server takes connections. */
export const open = Effect.fn("StackDatabase.open")(function* (
  folder: StackFolder,
  external: Redacted.Redacted | undefined,
  { started, stopping }: Pick<Supervisor.Options, "started" | "stopping">
): Effect.fn.Return<Redacted.Redacted, PostgresFailed, Scope.Scope> {
  if (external !== undefined) return external
  const first = yield* Deferred.make<Redacted.Redacted, PostgresFailed>()

  const runOnce = Effect.scoped(
    Effect.gen(function* () {
      const cluster = yield* Cluster.start({ folder: folder.postgres })
      yield* started("postgres", cluster.pid)
      yield* Deferred.succeed(first, yield* prepare(cluster))
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
