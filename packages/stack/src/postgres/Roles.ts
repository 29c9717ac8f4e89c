/**
 * The roles of the stack's own PostgreSQL: one owns the database and its schema, the server runs as one that owns nothing,
 * and neither is a superuser. Their passwords are derived from the superuser's, which stays in its file.
 */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"

export const owner = "catenet_owner"
export const server = "catenet_server"

/** The password of a role. */
export const passwordOf = (superuser: Redacted.Redacted, role: string): Redacted.Redacted =>
  Redacted.make(createHmac("sha256", Redacted.value(superuser)).update(`catenet role ${role}`).digest("base64url"))

/** Makes the roles, or gives them their passwords again. Wants the superuser. */
export const ensure = Effect.fn("Roles.ensure")(function* (superuser: Redacted.Redacted) {
  const sql = yield* SqlClient.SqlClient
  for (const role of [owner, server]) {
    const found = yield* sql`select 1 from pg_roles where rolname = ${role}`
    if (found.length === 0) yield* sql`create role ${sql(role)}`
    const password = Redacted.value(passwordOf(superuser, role))
    yield* sql`alter role ${sql(role)} login nosuperuser nocreatedb nocreaterole password ${sql.literal(`'${password}'`)}`
  }
})

/** Gives the owner the database that this connection is in, with what an earlier version made in it as superuser. */
export const own = Effect.fn("Roles.own")(function* (database: string) {
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
