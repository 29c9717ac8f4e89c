/**
 * A database of its own for every test file: copied from a template that the first file of a run migrates, dropped with
 * the scope. The PostgreSQL comes from `CATENET_TEST_DATABASE_URL`. Where its role may make others, servers under test
 * run as one that owns nothing, as they should in production; a test itself is the owner.
 */
import { migrate } from "@catenet/server/internal/store/Migrations"
import * as ServerRole from "@catenet/server/internal/store/ServerRole"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { createHash, randomBytes } from "node:crypto"
import { globSync, readFileSync } from "node:fs"

const adminUrl = process.env["CATENET_TEST_DATABASE_URL"] ?? ""
const folder = `${import.meta.dirname}/../../../server/src/store/migrations`

const urlOf = (database: string, role?: string) => {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  if (role !== undefined) {
    url.username = role
    url.password = role
  }
  return Redacted.make(url.href)
}

const serverRole = "catenet_test_server"

/** Makes the role of the servers where that is allowed; roles belong to all databases of a PostgreSQL. */
const ensureRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`do $$ begin
    if not exists (select 1 from pg_roles where rolname = '${serverRole}') then
      create role ${serverRole} login nosuperuser password '${serverRole}';
    end if;
  exception when insufficient_privilege then null;
  end $$`)
})

const hasRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`select 1 from pg_roles where rolname = ${serverRole}`).length > 0
})

const client = (url: Redacted.Redacted) => PgClient.layer({ url, maxConnections: 2 })

const template = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const hash = createHash("sha256")
  for (const file of globSync("**/*.ts", { cwd: folder }).sort()) hash.update(readFileSync(`${folder}/${file}`))
  hash.update(readFileSync(`${folder}/../ServerRole.ts`))
  const name = `catenet_template_${hash.digest("hex").slice(0, 16)}`
  yield* Effect.scoped(
    Effect.gen(function* () {
      const held = yield* sql.reserve
      yield* held.executeUnprepared("select pg_advisory_lock(7421)", [], undefined)
      yield* Effect.addFinalizer(() =>
        Effect.ignore(held.executeUnprepared("select pg_advisory_unlock(7421)", [], undefined))
      )
      const existing = yield* sql`select 1 from pg_database where datname = ${name}`
      if (existing.length > 0) return
      const making = `${name}_${randomBytes(4).toString("hex")}`
      yield* sql.unsafe(`create database ${making}`)
      yield* ensureRole
      const grant = (yield* hasRole) ? ServerRole.grant(serverRole) : Effect.void
      yield* Effect.andThen(migrate, grant).pipe(
        Effect.provide(Layer.fresh(client(urlOf(making)))),
        Effect.provideService(References.MinimumLogLevel, "Warn")
      )
      yield* sql.unsafe(`alter database ${making} rename to ${name}`)
    })
  )
  return name
})

const create = (from: Effect.Effect<string, unknown, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const name = `catenet_test_${randomBytes(8).toString("hex")}`
    const asAdmin = Effect.provide(Layer.fresh(client(Redacted.make(adminUrl))))
    const separate = yield* Effect.acquireRelease(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // Copied file by file: the other strategy writes every page to the log as well.
        yield* sql.unsafe(`create database ${name} template ${yield* from} strategy file_copy`)
        return yield* hasRole
      }).pipe(asAdmin),
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql.unsafe(`drop database ${name} with (force)`)
        }).pipe(asAdmin, Effect.orDie)
    )
    return { url: urlOf(name), serverUrl: from === template && separate ? urlOf(name, serverRole) : urlOf(name) }
  }).pipe(Effect.orDie)

export class TestDatabase extends Context.Service<
  TestDatabase,
  {
    /** As the owner of the schema. */
    readonly url: Redacted.Redacted
    /** As the role of a server. */
    readonly serverUrl: Redacted.Redacted
  }
>()("test/TestDatabase") {
  /** On the newest schema. */
  static readonly layer = Layer.effect(TestDatabase, create(template))
  /** Without any table. */
  static readonly layerEmpty = Layer.effect(TestDatabase, create(Effect.succeed("template0")))
}
