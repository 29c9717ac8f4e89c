/**
 * The role under which the server runs, when another one owns the schema: it reads and writes rows, and changes no table.
 * It adds to the audit log and can neither change nor remove what is in there.
 */
import { ended } from "@catenet/domain/values/Sentence"
import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describeError } from "./DatabaseAvailability.ts"

/** The role of the server cannot be given what it needs; the message is the sentence for the operator. */
export class RoleRefused extends Data.TaggedError("RoleRefused")<{ readonly role: string; readonly why: string }> {
  override get message() {
    return `CT_CP_DATABASE_ROLE names ${this.role}, which ${ended(this.why)}`
  }
}

/** Gives the role what the server needs, on the schema as it is now; repeating it changes nothing. Wants the owner. */
export const grant = Effect.fn("ServerRole.grant")(
  function* (role: string) {
    const sql = yield* SqlClient.SqlClient
    const name = sql(role)
    const [found] = yield* sql`select 1 from pg_roles where rolname = ${role}`
    if (found === undefined)
      return yield* new RoleRefused({
        role,
        why: "the database does not know; make it by createuser, or correct the name"
      })
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`grant usage on schema public to ${name}`
        yield* sql`grant select, insert, update, delete on all tables in schema public to ${name}`
        yield* sql`grant usage on all sequences in schema public to ${name}`
        yield* sql`grant execute on all functions in schema public to ${name}`
        yield* sql`revoke update, delete on audit_log from ${name}`
        yield* sql`revoke insert, update, delete on audit_retention, schema_migrations from ${name}`
      })
    )
  },
  (granted, role) =>
    Effect.catchTag(granted, "SqlError", (error) =>
      Effect.fail(
        new RoleRefused({
          role,
          why: `cannot be given its rights (${describeError(error)}); name the role that owns the schema in CT_CP_DATABASE_URL`
        })
      )
    )
)

/** Sets for how many days the audit log is kept; undefined: for ever. Wants the owner. */
export const retain = Effect.fn("ServerRole.retain")(function* (days: number | undefined) {
  const sql = yield* SqlClient.SqlClient
  yield* days === undefined
    ? sql`delete from audit_retention`
    : sql`insert into audit_retention (days) values (${days}) on conflict (one) do update set days = excluded.days`
})

/** What the role of this connection is and may. */
export const describe = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ role: string; superuser: boolean; owner: boolean; days: number | null }>`
    select current_user as role, (select rolsuper from pg_roles where rolname = current_user) as superuser,
      has_table_privilege('audit_retention', 'insert') as owner, (select days from audit_retention) as days`
  return row ?? (yield* Effect.die("a select without a table answers one row"))
})
