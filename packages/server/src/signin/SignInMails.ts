/**
 * The queue of mail that carries a code. A mail is written sealed, sent soon, and tried again while its code is valid; a
 * process that ends loses none.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Option, Queue, Result, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { SmtpServer } from "../notices/mail/SmtpServer.ts"
import { freshHex32 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"
import { compose } from "./SignInMessage.ts"

const place = "sign_in_mails.content"
/** Seconds in which an attempt is over, and for which a code is worth sending. */
const leaseSeconds = 60
const triedFor = 600
const batch = 16
const atOnce = 4

const Content = Schema.fromJsonString(
  Schema.Struct({
    to: Schema.String,
    language: Schema.Literals(["en", "de"]),
    code: Schema.String,
    host: Schema.String
  })
)
export type SignInMail = typeof Content.Type
const encode = Schema.encodeEffect(Content)
const decode = Schema.decodeEffect(Content)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  const smtp = yield* SmtpServer
  const context = yield* Effect.context<SecureRandom.SecureRandom>()
  const run = Effect.runPromiseWith(context)
  /** One element while there is something to send. */
  const written = yield* Queue.sliding<true>(1)

  const put = Effect.fnUntraced(function* (mail: SignInMail) {
    const id = yield* freshHex32
    const now = yield* unixSeconds
    const content = sealing.seal(place, yield* encode(mail))
    yield* sql`insert into sign_in_mails (id, content, created_at, due_at) values (${id}, ${content}, ${now}, ${now})`
    yield* Queue.offer(written, true)
  })

  const send = (from: string, row: { readonly id: string; readonly content: string }) =>
    Effect.gen(function* () {
      const mail = yield* decode(Result.getOrThrow(sealing.open(place, row.content)))
      const message = yield* Effect.promise(() => compose({ ...mail, from, id: row.id }))
      const session = yield* smtp.open
      yield* session.send({ from, to: mail.to }, message)
      yield* sql`delete from sign_in_mails where id = ${row.id}`
    }).pipe(
      Effect.scoped,
      Effect.catchTags({
        MailRefused: (refusal) =>
          Effect.andThen(
            Effect.logWarning(refusal.message),
            refusal.isForNow ? Effect.void : Effect.asVoid(sql`delete from sign_in_mails where id = ${row.id}`)
          ),
        MailUnanswered: ({ message }) =>
          Effect.andThen(Effect.logWarning(message), sql`delete from sign_in_mails where id = ${row.id}`)
      })
    )

  const deliver = Effect.fnUntraced(function* (from: string) {
    const now = yield* unixSeconds
    yield* sql`delete from sign_in_mails where created_at < ${now - triedFor}`
    const due = yield* sql<{ readonly id: string; readonly content: string }>`
      update sign_in_mails set due_at = ${now + leaseSeconds} where id in (
        select id from sign_in_mails where due_at <= ${now} order by due_at limit ${batch} for update skip locked)
      returning id, content`
    yield* Effect.forEach(due, (row) => send(from, row), { concurrency: atOnce, discard: true })
    return due.length
  })

  if (Option.isSome(smtp.sender)) {
    const from = smtp.sender.value
    const waiting = Effect.timeoutOption(Queue.take(written), "5 seconds")
    yield* Effect.flatMap(deliver(from), (count) => (count > 0 ? Effect.void : Effect.asVoid(waiting))).pipe(
      retryForever("Sending mail of sign-ins"),
      Effect.forkScoped
    )
  }
  return {
    /** Whether there is a mail server. */
    isConfigured: Option.isSome(smtp.sender),
    /** Never fails: nobody waits for it. */
    put: (mail: SignInMail) =>
      run(Effect.catchCause(put(mail), (cause) => Effect.logWarning("Could not queue a mail with a code.", cause)))
  }
})
