/** The table of portal sessions. */
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Subject"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Session = Schema.Struct({
  subject: Subject,
  email: Schema.NullOr(Email),
  seenAt: Schema.Int
})

export interface Row {
  readonly tokenHash: string
  readonly subject: string
  readonly email: string | null
  /** Sealed. */
  readonly idToken: string | null
  readonly userAgent: string
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    insert: (row: Row) => sql`insert into portal_sessions ${sql.insert({ ...row })}`,
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ tokenHash: Schema.String, now: Schema.Int, idleSince: Schema.Int }),
      Result: Session,
      execute: ({ idleSince, now, tokenHash }) => sql`
        select subject, email, seen_at from portal_sessions
        where token_hash = ${tokenHash} and expires_at > ${now} and seen_at > ${idleSince}`
    }),
    touch: (tokenHash: string, now: number) =>
      sql`update portal_sessions set seen_at = ${now} where token_hash = ${tokenHash} and seen_at < ${now}`,
    /** Answers what a live session held. */
    remove: SqlSchema.findAll({
      Request: Schema.Struct({ tokenHash: Schema.String, now: Schema.Int, idleSince: Schema.Int }),
      Result: Schema.Struct({ idToken: Schema.NullOr(Schema.String) }),
      execute: ({ idleSince, now, tokenHash }) => sql`
        delete from portal_sessions where token_hash = ${tokenHash}
        returning case when expires_at > ${now} and seen_at > ${idleSince} then id_token end as id_token`
    }),
    removeAllOf: (subject: string) => sql`delete from portal_sessions where subject = ${subject}`,
    removeOver: (now: number, idleSince: number) =>
      sql`delete from portal_sessions where expires_at <= ${now} or seen_at <= ${idleSince}`
  }
})
