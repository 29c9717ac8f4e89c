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

const Listed = Schema.Struct({
  id: Schema.String,
  userAgent: Schema.String,
  createdAt: Schema.Int,
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
    /** The live sessions of an account, by the first half of their hashes; the last seen comes first. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, now: Schema.Int, idleSince: Schema.Int }),
      Result: Listed,
      execute: ({ idleSince, now, subject }) => sql`
        select left(token_hash, 32) as id, user_agent, created_at, seen_at from portal_sessions
        where subject = ${subject} and expires_at > ${now} and seen_at > ${idleSince}
        order by seen_at desc, token_hash limit 100`
    }),
    removeOthers: (subject: string, tokenHash: string) =>
      sql`delete from portal_sessions where subject = ${subject} and token_hash <> ${tokenHash}`,
    removeOne: (subject: string, id: string) =>
      sql`delete from portal_sessions where subject = ${subject} and left(token_hash, 32) = ${id} returning 1`,
    removeAllOf: (subject: string) => sql`delete from portal_sessions where subject = ${subject}`,
    removeOver: (now: number, idleSince: number) =>
      sql`delete from portal_sessions where expires_at <= ${now} or seen_at <= ${idleSince}`
  }
})
