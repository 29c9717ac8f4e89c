/**
 * Mails new notices to accounts that want them. Mails are queued in the transaction that finds the notice, so each is
 * mailed at most once by any number of replicas, and no request waits. A mail that the server certainly did not accept
 * is retried for a day; one in doubt is not.
 */
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Ids"
import { retryForever } from "@catenet/platform/RetryForever"
import { Context, Effect, Layer, Option, Redacted, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql"
import { over } from "../../runtime/Over.ts"
import { freshHex32, freshHex64, hashToken } from "../../runtime/TokenSecrets.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { maxNotices, Notices } from "../Notices.ts"
import { type Due, nameOf, NoticeMailStore, type Wanting } from "./NoticeMailStore.ts"
import { compose } from "./NoticeMessage.ts"
import { SmtpServer } from "./SmtpServer.ts"

/** Seconds for which a mail is tried: a day. */
const triedFor = 86_400
/** Seconds for which a link to unsubscribe works: half a year. */
const keptFor = 180 * 86_400
const longestWait = 3600
const backOff = (attempts: number) => Math.min(30 * 2 ** Math.min(attempts, 10), longestWait)

/** Accounts of one look, and mails of one round. */
const batch = 64
const atOnce = 4

/** An address that stands for one mailbox in every header and every command of SMTP. */
const isPlain = (email: string) => /^[^\s@<>()[\],;:"\\\p{C}]+@[^\s@<>()[\],;:"\\\p{C}]+$/u.test(email)

export const unsubscribePath = "/portal/unsubscribe"

/** What a token of a mail is worth. */
type Unsubscription = "open" | "spent" | "unknown"

const dependencies = Effect.gen(function* () {
  const store = yield* NoticeMailStore
  const notices = yield* Notices
  const smtp = yield* SmtpServer
  const random = yield* SecureRandom.SecureRandom
  const { mailIntervalSeconds, portalBaseUrl } = yield* Settings
  const drawn = Effect.provideService(SecureRandom.SecureRandom, random)
  const portal = portalBaseUrl.origin
  return { drawn, mailIntervalSeconds, notices, portal, smtp, store }
})
type State = Effect.Success<typeof dependencies>

const current = ({ notices }: State, { email, subject }: { readonly subject: Subject; readonly email: Email | null }) =>
  notices.list({ subject, email })

const lookAt = Effect.fnUntraced(
  function* (state: State, account: Wanting) {
    const { subject } = account
    yield* state.store.lock(subject)
    const found = yield* current(state, account)
    // A list that is cut off says nothing of what stands behind it.
    if (found.length < maxNotices) yield* state.store.forgetGone(subject, found)
    const mailed = new Set((yield* state.store.mailed(subject)).map((name) => JSON.stringify(Object.values(name))))
    const fresh = found.filter((notice) => !mailed.has(JSON.stringify(Object.values(nameOf(notice)))))
    if (fresh.length === 0 || account.email === null || !isPlain(account.email)) return
    yield* state.store.write(yield* state.drawn(freshHex32), subject, fresh, yield* unixSeconds)
  },
  (self, state) => state.store.transaction(self)
)

/** The notices of a mail that are still there: what has gone meanwhile is not mailed. */
const left = Effect.fnUntraced(function* (state: State, mail: Due) {
  const { email, id, subject, wanted } = mail
  if (!wanted || email === null || !isPlain(email)) return undefined
  const names = new Set((yield* state.store.noticesOf(id)).map((name) => JSON.stringify(Object.values(name))))
  const found = (yield* current(state, { subject, email })).filter((notice) =>
    names.has(JSON.stringify(Object.values(nameOf(notice))))
  )
  return found.length === 0 ? undefined : { email, found }
})

const attempt = Effect.fnUntraced(function* (state: State, mail: Due, from: string) {
  const { attempts, id, language } = mail
  const content = yield* left(state, mail)
  if (content === undefined) return yield* Effect.asVoid(state.store.settle(mail, "dropped"))
  const session = yield* state.smtp.open
  const token = yield* state.drawn(freshHex64)
  const { email: to, found } = content
  const unsubscribe = `${state.portal}${unsubscribePath}?token=${token}`
  const message = yield* Effect.promise(() =>
    compose({ id, from, to, language, notices: found, portal: state.portal, unsubscribe })
  )
  const hash = hashToken(Redacted.make(token))
  const marked = yield* state.store.mark({ id, attempts, unsubscribeHash: hash })
  if (marked.length > 0) {
    yield* session.send({ from, to }, message)
    yield* state.store.settle(mail, "sent")
  }
  return undefined
})

const send = (state: State, mail: Due, from: string) =>
  attempt(state, mail, from).pipe(
    Effect.catchTags({
      MailRefused: (refusal) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(refusal.message)
          const now = yield* unixSeconds
          yield* refusal.isForNow && now - mail.createdAt < triedFor
            ? state.store.postpone(mail, now + backOff(mail.attempts), refusal.why)
            : state.store.settle(mail, "failed", refusal.why)
        }),
      MailUnanswered: ({ message }) => Effect.andThen(Effect.logWarning(message), state.store.settle(mail, "unknown"))
    }),
    Effect.scoped
  )

const hashed = (token: Redacted.Redacted) =>
  /^[0-9a-f]{64}$/u.test(Redacted.value(token)) ? Option.some(hashToken(token)) : Option.none()

const look = Effect.fnUntraced(function* (
  { store }: State,
  token: Redacted.Redacted
): Effect.fn.Return<Unsubscription, Schema.SchemaError | SqlError.SqlError> {
  const hash = hashed(token)
  const found = Option.isNone(hash) ? Option.none() : yield* store.unsubscription(hash.value)
  return Option.match(found, { onNone: () => "unknown", onSome: ({ isSpent }) => (isSpent ? "spent" : "open") })
})

const isWanted = ({ store }: State, subject: Subject) =>
  sqlOrDie(Effect.map(store.setting(subject), (row) => Option.isSome(row) && row.value.wanted))

const set = ({ store }: State, subject: Subject, wanted: boolean, language: "en" | "de") =>
  sqlOrDie(Effect.asVoid(store.set(subject, wanted, language)))

const setLanguage = ({ store }: State, subject: Subject, language: "en" | "de") =>
  sqlOrDie(Effect.asVoid(store.setLanguage(subject, language)))

const unsubscribe = Effect.fn("NoticeMails.unsubscribe")(function* (state: State, token: Redacted.Redacted) {
  const hash = hashed(token)
  const now = yield* unixSeconds
  const spent = Option.isNone(hash) ? [] : yield* state.store.spend({ hash: hash.value, now })
  return spent.length > 0 ? "open" : yield* look(state, token)
}, sqlOrDie)

export class NoticeMails extends Context.Service<
  NoticeMails,
  {
    /** Whether there is a mail server. */
    readonly isConfigured: boolean
    readonly isWanted: (subject: Subject) => Effect.Effect<boolean>
    readonly set: (subject: Subject, wanted: boolean, language: "en" | "de") => Effect.Effect<void>
    /** Mail follows the language that an account chooses. */
    readonly setLanguage: (subject: Subject, language: "en" | "de") => Effect.Effect<void>
    readonly look: (token: Redacted.Redacted) => Effect.Effect<Unsubscription>
    /** Switches mail off, once; what is returned is what the token was worth. */
    readonly unsubscribe: (token: Redacted.Redacted) => Effect.Effect<Unsubscription>
    /** Writes the mails of accounts whose look is due. */
    readonly collect: Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** Sends what is due; how much that was. */
    readonly deliver: Effect.Effect<number, Schema.SchemaError | SqlError.SqlError>
    readonly prune: Effect.Effect<void>
  }
>()("server/notices/mail/NoticeMails") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { isWanted, set, setLanguage, unsubscribe }),
    isConfigured: Option.isSome(state.smtp.sender),
    look: (token: Redacted.Redacted) => sqlOrDie(look(state, token)),
    collect: Effect.gen(function* () {
      if (Option.isNone(state.smtp.sender)) return
      const now = yield* unixSeconds
      const due = yield* state.store.takeDue({ now, next: now + state.mailIntervalSeconds, limit: batch })
      yield* Effect.forEach(due, (account) => lookAt(state, account), { concurrency: atOnce, discard: true })
    }),
    deliver: Effect.gen(function* () {
      if (Option.isNone(state.smtp.sender)) return 0
      const from = state.smtp.sender.value
      const due = yield* state.store.lease({ now: yield* unixSeconds, limit: batch })
      yield* Effect.forEach(due, (mail) => send(state, mail, from), { concurrency: atOnce, discard: true })
      return due.length
    }),
    prune: Effect.gen(function* () {
      const now = yield* unixSeconds
      yield* state.store.settleAbandoned(now)
      yield* state.store.prune(now - keptFor)
    }).pipe(Effect.orDie)
  }))

  static readonly layer = Layer.effect(NoticeMails, NoticeMails.make).pipe(
    Layer.provide([Notices.layer, SmtpServer.layer, NoticeMailStore.layer])
  )
}

/** The two loops of mail: one finds what is new, one sends it, so that a slow mail server delays no look. */
const mail = Effect.gen(function* () {
  const { collect, deliver, isConfigured } = yield* NoticeMails
  const { mailIntervalSeconds } = yield* Settings
  if (!isConfigured) return
  const pause = `${Math.min(mailIntervalSeconds, 5)} seconds` as const
  yield* Effect.all(
    [
      Effect.andThen(collect, Effect.sleep(pause)).pipe(retryForever("Looking for notices to mail")),
      Effect.flatMap(deliver, (count) => (count > 0 ? Effect.void : Effect.sleep(pause))).pipe(
        retryForever("Sending mail")
      )
    ],
    { concurrency: 2, discard: true }
  )
})

/** Runs as long as the layer lives. */
export const mailLoops = Layer.effectDiscard(Effect.forkScoped(mail)).pipe(Layer.provide([NoticeMails.layer]))
