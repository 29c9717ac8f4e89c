/**
 * Which accounts want mail, which notices were mailed, and the queue of mails. A mail is leased by its sender and
 * marked before delivery: a marked mail is never delivered again.
 */
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Notice } from "../Notices.ts"

/** Seconds in which an attempt is over. */
const leaseSeconds = 180

const Language = Schema.Literals(["en", "de"])
const Wanting = Schema.Struct({ subject: Subject, email: Schema.NullOr(Email) })
export type Wanting = typeof Wanting.Type

const Due = Schema.Struct({
  id: Schema.String,
  subject: Subject,
  attempts: Schema.Int,
  createdAt: Schema.Int,
  wanted: Schema.Boolean,
  language: Language,
  email: Schema.NullOr(Email)
})
export type Due = typeof Due.Type

const Named = Schema.Struct({ kind: Schema.String, about: Schema.String, who: Schema.String })
export const nameOf = ({ about, kind, who }: Notice) => ({ kind, about, who: who ?? "" })

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const rowsOf = (notices: ReadonlyArray<Notice>) => JSON.stringify(notices.map(nameOf))
  const named = (notices: ReadonlyArray<Notice>) =>
    sql`select kind, about, who from jsonb_to_recordset(${rowsOf(notices)}::jsonb) as n (kind text, about text, who text)`

  return {
    transaction: sql.withTransaction,
    setting: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ wanted: Schema.Boolean }),
      execute: (subject) => sql`select wanted from mail_accounts where subject = ${subject}`
    }),
    set: (subject: string, wanted: boolean, language: "en" | "de") => sql`
      insert into mail_accounts (subject, wanted, language, due_at) values (${subject}, ${wanted}, ${language}, 0)
      on conflict (subject) do update set wanted = excluded.wanted, language = excluded.language, due_at = 0`,
    setLanguage: (subject: string, language: "en" | "de") =>
      sql`update mail_accounts set language = ${language} where subject = ${subject} and language <> ${language}`,

    /** Accounts whose notices are to be looked at. The same statement puts off their next look. */
    takeDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, next: Schema.Int, limit: Schema.Int }),
      Result: Wanting,
      execute: ({ limit, next, now }) => sql`
        update mail_accounts m set due_at = ${next} where m.subject in (
          select subject from mail_accounts where wanted and due_at <= ${now} order by due_at limit ${limit}
          for update skip locked)
        returning m.subject, (select e.email from account_emails e where e.subject = m.subject)`
    }),
    /** No other transaction looks at this account before this one ends. */
    lock: (subject: string) => sql`select 1 from mail_accounts where subject = ${subject} for update`,
    /** A notice that has gone is a new one when it comes again. */
    forgetGone: (subject: string, notices: ReadonlyArray<Notice>) => sql`
      delete from mailed_notices where subject = ${subject} and (kind, about, who) not in (${named(notices)})`,
    mailed: SqlSchema.findAll({
      Request: Schema.String,
      Result: Named,
      execute: (subject) => sql`select kind, about, who from mailed_notices where subject = ${subject}`
    }),
    write: (id: string, subject: string, notices: ReadonlyArray<Notice>, now: number) =>
      sql`insert into notice_mails (id, subject, state, created_at, due_at) values (${id}, ${subject}, 'pending', ${now}, ${now})`.pipe(
        Effect.andThen(sql`insert into mailed_notices (subject, kind, about, who, mail)
          select ${subject}, kind, about, who, ${id} from (${named(notices)}) as n`)
      ),

    lease: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, limit: Schema.Int }),
      Result: Due,
      execute: ({ limit, now }) => sql`
        with leased as (
          update notice_mails set due_at = ${now + leaseSeconds}, attempts = attempts + 1 where id in (
            select id from notice_mails where state = 'pending' and due_at <= ${now}
            order by due_at limit ${limit} for update skip locked)
          returning id, subject, attempts, created_at)
        select l.*, m.wanted, m.language, e.email from leased l join mail_accounts m on m.subject = l.subject
        left join account_emails e on e.subject = l.subject`
    }),
    noticesOf: SqlSchema.findAll({
      Request: Schema.String,
      Result: Named,
      execute: (mail) => sql`select kind, about, who from mailed_notices where mail = ${mail}`
    }),
    /** Takes a mail for the one attempt that may reach the server's store, unless its account no longer wants any. */
    mark: SqlSchema.findAll({
      Request: Schema.Struct({ id: Schema.String, attempts: Schema.Int, unsubscribeHash: Schema.String }),
      Result: Schema.Struct({ id: Schema.String }),
      execute: ({ attempts, id, unsubscribeHash }) => sql`
        update notice_mails n set state = 'sending', unsubscribe_hash = ${unsubscribeHash}
        where id = ${id} and state = 'pending' and attempts = ${attempts}
          and exists (select 1 from mail_accounts m where m.subject = n.subject and m.wanted)
        returning id`
    }),
    /** What an attempt came to, unless another one has the mail by now. */
    settle: ({ attempts, id }: Due, state: "sent" | "failed" | "unknown" | "dropped", detail = "") =>
      sql`update notice_mails set state = ${state}, detail = ${detail} where id = ${id} and attempts = ${attempts}`,
    postpone: ({ attempts, id }: Due, dueAt: number, detail: string) => sql`
      update notice_mails set state = 'pending', due_at = ${dueAt}, detail = ${detail}
      where id = ${id} and attempts = ${attempts}`,
    /** Mails of processes that ended while they handed one over. */
    settleAbandoned: (now: number) =>
      sql`update notice_mails set state = 'unknown' where state = 'sending' and due_at <= ${now}`,

    unsubscription: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ isSpent: Schema.Boolean }),
      execute: (hash) => sql`select spent_at is not null as is_spent from notice_mails where unsubscribe_hash = ${hash}`
    }),
    spend: SqlSchema.findAll({
      Request: Schema.Struct({ hash: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({ subject: Subject }),
      execute: ({ hash, now }) => sql`
        with spent as (update notice_mails set spent_at = ${now}
          where unsubscribe_hash = ${hash} and spent_at is null returning subject)
        update mail_accounts m set wanted = false from spent where m.subject = spent.subject returning m.subject`
    }),
    prune: (before: number) => sql`delete from notice_mails where created_at < ${before} and state <> 'pending'`
  }
})

export class NoticeMailStore extends Context.Service<NoticeMailStore>()("server/notices/mail/NoticeMailStore", {
  make
}) {
  static readonly layer = Layer.effect(NoticeMailStore, NoticeMailStore.make)
}
