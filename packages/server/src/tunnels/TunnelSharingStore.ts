/** The tables beside a tunnel: grantees, visitors of its login gate, and those who asked to be let in. */
import { Email } from "@catenet/domain/values/Email"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxGrantsPerTunnel, maxVisitorsPerTunnel } from "@catenet/domain/values/Quotas"
import { Subject } from "@catenet/domain/values/Subject"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** So many rows of a tunnel after this name. */
const Slice = Schema.Struct({
  of: Schema.String,
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})
export type Slice = typeof Slice.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const part = (column: string, { after, limit, of }: Slice) => sql`
    where tunnel_id = ${of} ${after === undefined ? sql`` : sql`and ${sql(column)} > ${after}`}
    order by ${sql(column)} ${limit === undefined ? sql`` : sql`limit ${limit}`}`
  return {
    /** Additions to one tunnel's lists come one after the other. */
    lock: (id: string) => sql`select pg_advisory_xact_lock(hashtextextended(${id}, 47))`,
    /** A row, also where it was there; none where there is no room. */
    grant: (id: string, grantee: string) => sql`
      insert into tunnel_grants (tunnel_id, grantee) select ${id}, ${grantee}
      where (select count(*) from tunnel_grants where tunnel_id = ${id} and grantee <> ${grantee}) < ${maxGrantsPerTunnel}
      on conflict (tunnel_id, grantee) do update set grantee = excluded.grantee returning 1`,
    grantees: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ grantee: Subject }),
      execute: (slice) => sql`select grantee from tunnel_grants ${part("grantee", slice)}`
    }),
    /** A visitor who is let in has no request any more. A row, also where it was there; none where there is no room. */
    admit: (id: string, email: string) => sql`
      with asked as (
        delete from tunnel_access_requests where tunnel_id = ${id} and email = ${email})
      insert into tunnel_visitors (tunnel_id, email) select ${id}, ${email}
      where (select count(*) from tunnel_visitors where tunnel_id = ${id} and email <> ${email}) < ${maxVisitorsPerTunnel}
      on conflict (tunnel_id, email) do update set email = excluded.email returning 1`,
    turnAway: (id: string, email: string) =>
      sql`delete from tunnel_visitors where tunnel_id = ${id} and email = ${email}`,
    visitors: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ email: Email }),
      execute: (slice) => sql`select email from tunnel_visitors ${part("email", slice)}`
    }),
    requests: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ email: Email, note: Schema.String, at: UnixSeconds }),
      execute: (slice) => sql`select email, note, at from tunnel_access_requests ${part("email", slice)}`
    }),
    dismiss: (id: string, email: string) =>
      sql`delete from tunnel_access_requests where tunnel_id = ${id} and email = ${email} returning email`,
    transaction: sql.withTransaction
  }
})
