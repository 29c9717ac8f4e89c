/**
 * The stack's database: the server that was named, or an embedded one that is started again whenever it ends. In the
 * embedded one the schema belongs to a role of its own, which brings it up to date here; the control plane runs as another.
 */
import { variables } from "@catenet/server/internal/settings/Settings"
import { migrateTo } from "@catenet/server/internal/store/Migrations"
import * as ServerRole from "@catenet/server/internal/store/ServerRole"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Redacted, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"
import { failed as postgresFailed, type PostgresFailed } from "../postgres/Binaries.ts"
import * as Cluster from "../postgres/Cluster.ts"
import type * as Supervisor from "../supervisor/Supervisor.ts"
import type { StackFolder } from "./StackFolder.ts"

/**
 * The roles of the stack's own PostgreSQL: one owns the database and its schema, the server runs as one that owns nothing,
 * and neither is a superuser. Their passwords are derived from the superuser's, which stays in its file.
 */
const owner = "catenet_owner"
const server = "catenet_server"

/** The password of a role. */
const passwordOf = (superuser: Redacted.Redacted, role: string): Redacted.Redacted =>
  Redacted.make(createHmac("sha256", Redacted.value(superuser)).update(`catenet role ${role}`).digest("base64url"))

/** Makes the roles, or gives them their passwords again. Wants the superuser. */
const ensureRoles = Effect.fn("StackDatabase.ensure")(function* (superuser: Redacted.Redacted) {
  const sql = yield* SqlClient.SqlClient
  for (const role of [owner, server]) {
    const found = yield* sql`select 1 from pg_roles where rolname = ${role}`
    if (found.length === 0) yield* sql`create role ${sql(role)}`
    const password = Redacted.value(passwordOf(superuser, role))
    yield* sql`alter role ${sql(role)} login nosuperuser nocreatedb nocreaterole password ${sql.literal(`'${password}'`)}`
  }
})

/** Gives the owner the database that this connection is in, with what an earlier version made in it as superuser. */
const own = Effect.fn("StackDatabase.own")(function* (database: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter database ${sql(database)} owner to ${sql(owner)}`
  yield* sql.unsafe(`do $$
    declare each record;
    begin
      for each in select c.oid::regclass as name, c.relkind as kind from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') and c.relowner <> '${owner}'::regrole
      loop
        execute format('alter %s %s owner to ${owner}', case each.kind when 'v' then 'view' else 'table' end, each.name);
      end loop;
      for each in select p.oid::regprocedure as name from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.proowner <> '${owner}'::regrole
      loop
        execute format('alter function %s owner to ${owner}', each.name);
      end loop;
    end $$`)
})

const name = "catenet"

const connected = (url: Redacted.Redacted) => Effect.provide(PgClient.layer({ url, maxConnections: 1 }))

const failed = postgresFailed("initialise")

const roleUrl = (cluster: Cluster.Cluster, role: string) => cluster.url(name, role, passwordOf(cluster.password, role))

const createDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`select 1 from pg_database where datname = ${name}`
  if (found.length === 0) yield* sql`create database ${sql(name)}`
})

/** Makes database, roles and schema; answers the URL with which the control plane connects. */
const prepare = Effect.fn("StackDatabase.prepare")(function* (cluster: Cluster.Cluster) {
  yield* Effect.andThen(createDatabase, ensureRoles(cluster.password)).pipe(connected(cluster.url("postgres")))
  yield* own(name).pipe(connected(cluster.url(name)))
  const auditRetentionDays = yield* variables.auditRetentionDays.config
  yield* Effect.all([migrateTo(), ServerRole.retain(auditRetentionDays), ServerRole.grant(server)]).pipe(
    connected(roleUrl(cluster, owner))
  )
  return roleUrl(cluster, server)
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
