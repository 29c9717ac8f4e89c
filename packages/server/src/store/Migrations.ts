/**
 * Brings the schema up to date, in one transaction under an advisory lock, so that replicas that start together wait
 * for each other. Migrations are append-only: what has been released is never edited. A database that is ahead of
 * this program is refused, because an older program would write what the newer schema no longer means.
 */
import { Data, Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { DatabaseUnreachable, isUnavailable, describeError } from "./DatabaseAvailability.ts"
import * as DatabaseRefused from "./DatabaseRefused.ts"
import { migrations } from "./migrations/Registry.ts"

/** The schema has been brought further by a newer program. */
export class SchemaTooNew extends Data.TaggedError("SchemaTooNew")<{
  readonly found: number
  readonly known: number
}> {
  override get message() {
    return `The database is at schema ${this.found}, but this program supports at most ${this.known}; start a newer version.`
  }
}

/** The schema is older than this program, and the role of this connection may not change it. */
export class MigrationNotAllowed extends Data.TaggedError("MigrationNotAllowed")<{
  readonly found: number
  readonly known: number
}> {
  override get message() {
    return (
      `The database is at schema ${this.found}, this program needs ${this.known}, and the role of CT_CP_DATABASE_URL ` +
      "does not own the schema; run `catenet migrate` with the role that does."
    )
  }
}

/** A migration could not be applied; the schema is as it was before. */
export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{ readonly cause: unknown }> {
  override get message() {
    return `The schema migration failed and was rolled back (${describeError(this.cause)}); fix the cause and start again.`
  }
}

const table = "schema_migrations"
/** One advisory lock for all programs that change this schema: "cate" in ASCII. */
export const lock = 0x63617465

/** The newest migration that was applied, and whether this role may apply more. */
const current = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [schema] = yield* sql<{ present: boolean; owner: boolean }>`
    select to_regclass(${table}) is not null as present,
      coalesce((select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass(${table})),
        has_schema_privilege('public', 'create')) as owner`
  const owner = schema?.owner === true
  if (schema?.present !== true) return { found: 0, owner }
  const [latest] = yield* sql<{ id: number | null }>`select max(migration_id) as id from ${sql(table)}`
  return { found: latest?.id ?? 0, owner }
})

/** Whether there is something to apply. */
const isBehind = Effect.fnUntraced(function* (known: number, wanted: number) {
  const { found, owner } = yield* current
  if (found > known) return yield* new SchemaTooNew({ found, known })
  if (found >= wanted) return false
  return owner || (yield* new MigrationNotAllowed({ found, known: wanted }))
})

const refused = (cause: unknown) =>
  DatabaseRefused.of(cause) ??
  (isUnavailable(cause) ? new DatabaseUnreachable({ cause }) : new MigrationFailed({ cause }))

/**
 * Applies the pending migrations up to `last` (all of them by default) and returns their names.
 */
export const migrateTo = (last: number = Number.MAX_SAFE_INTEGER) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const entries = Object.entries(migrations)
    const known = Math.max(...entries.map(([name]) => Number.parseInt(name, 10)))
    const wanted = Object.fromEntries(entries.filter(([name]) => Number.parseInt(name, 10) <= last))
    const applied = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`set local statement_timeout = 0`
        yield* sql`select pg_advisory_xact_lock(${lock})`
        if (!(yield* isBehind(known, Math.min(known, last)))) return []
        return yield* Migrator.make({})({ loader: Migrator.fromRecord(wanted), table })
      })
    )
    return applied.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)
  }).pipe(
    Effect.catchTag("SqlError", (error) => Effect.fail(refused(error))),
    Effect.catchTag("MigrationError", (error) => Effect.fail(refused(error.cause ?? error))),
    // A transaction whose connection is lost can not be rolled back either, and that is a defect to its client.
    Effect.catchDefect((defect) => (isUnavailable(defect) ? Effect.fail(refused(defect)) : Effect.die(defect))),
    Effect.withSpan("Migrations.migrate")
  )

/** Applies everything that is pending. */
export const migrate = Effect.tap(migrateTo(), (applied) =>
  applied.length === 0
    ? Effect.void
    : Effect.annotateLogs(Effect.logInfo("The schema is up to date."), { applied: applied.join(" ") })
)
