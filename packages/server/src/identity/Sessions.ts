/**
 * Portal sessions. The cookie holds a random token, the database its hash: signing out ends the session wherever the
 * cookie was copied to. A session ends after ten hours, or two without use.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"

/** The table of portal sessions. */
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

interface Row {
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

const makeSessionStore = Effect.gen(function* () {
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

/** Seconds from sign-in to the end, whatever happens. */
export const lifetime = 36_000
/** Seconds without a request after which a session ends. */
const idleTime = 7_200
/** A session's last use is written at most this often, in seconds. */
const touchSpacing = 60

export interface SignIn {
  readonly subject: Subject
  /** Only an address that the identity provider says it has verified. */
  readonly email: Email | null
  /** Handed back to the provider at sign-out. */
  readonly idToken: string | null
  readonly userAgent: string
}

/** A session as its account sees it. Its name is the first half of the token's hash. */
export interface OpenSession {
  readonly id: string
  readonly userAgent: string
  readonly createdAt: number
  readonly seenAt: number
  readonly isThis: boolean
}

const hashToken = (token: Redacted.Redacted) => TokenEncoding.hashText(native, token)

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Opens a session; answers what the cookie is to hold. Every sign-in has a token of its own. */
    readonly open: (signIn: SignIn) => Effect.Effect<Redacted.Redacted>
    /** The live session of a cookie. */
    readonly find: (
      token: Redacted.Redacted
    ) => Effect.Effect<
      Option.Option<{ readonly subject: Subject; readonly email: Email | null; readonly seenAt: number }>
    >
    /** Ends the session of a cookie; answers the id token that it held, when it was still live. */
    readonly close: (token: Redacted.Redacted) => Effect.Effect<Option.None<string> | Option.Some<string>>
    /** The live sessions of an account, at most a hundred, and which of them is the cookie's. */
    readonly list: (subject: Subject, token: Redacted.Redacted) => Effect.Effect<ReadonlyArray<OpenSession>>
    /** Ends every session of an account but the cookie's. */
    readonly closeOthers: (subject: Subject, token: Redacted.Redacted) => Effect.Effect<void>
    /** Ends a session by its name in the list; answers whether there was one. */
    readonly closeOne: (subject: Subject, id: string) => Effect.Effect<boolean>
    /** Ends every session of an account. */
    readonly closeAllOf: (subject: Subject) => Effect.Effect<void>
    /** Deletes sessions that are over. */
    readonly prune: Effect.Effect<void>
  }
>()("server/identity/Sessions") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeSessionStore
    const random = yield* SecureRandom.SecureRandom
    const sealing = yield* Sealing
    const sealed = (idToken: string | null) =>
      idToken === null ? null : sealing.seal("portal_sessions.id_token", idToken)

    return {
      open: Effect.fn("Sessions.open")(function* (signIn: SignIn) {
        const token = TokenEncoding.urlText(Redacted.make(yield* random.randomBytes(32)))
        const now = yield* unixSeconds
        const userAgent = signIn.userAgent.slice(0, 256)
        const times = { createdAt: now, seenAt: now, expiresAt: now + lifetime }
        yield* Effect.orDie(
          store.insert({ ...signIn, ...times, idToken: sealed(signIn.idToken), userAgent, tokenHash: hashToken(token) })
        )
        return token
      }),

      find: Effect.fn("Sessions.find")(function* (token: Redacted.Redacted) {
        const now = yield* unixSeconds
        const tokenHash = hashToken(token)
        const found = yield* store.find({ tokenHash, now, idleSince: now - idleTime })
        if (Option.isSome(found) && now - found.value.seenAt >= touchSpacing) yield* store.touch(tokenHash, now)
        return found
      }, Effect.orDie),

      close: Effect.fn("Sessions.close")(function* (token: Redacted.Redacted) {
        const now = yield* unixSeconds
        const [ended] = yield* store.remove({ tokenHash: hashToken(token), now, idleSince: now - idleTime })
        if (ended?.idToken == null) return Option.none()
        return Option.some(yield* Effect.fromResult(sealing.open("portal_sessions.id_token", ended.idToken)))
      }, Effect.orDie),

      list: Effect.fn("Sessions.list")(function* (subject: Subject, token: Redacted.Redacted) {
        const now = yield* unixSeconds
        const own = hashToken(token).slice(0, 32)
        const found = yield* store.list({ subject, now, idleSince: now - idleTime })
        return found.map(({ createdAt, id, seenAt, userAgent }) => ({
          id,
          userAgent,
          createdAt,
          seenAt,
          isThis: id === own
        }))
      }, Effect.orDie),

      closeOthers: (subject: Subject, token: Redacted.Redacted) =>
        Effect.asVoid(Effect.orDie(store.removeOthers(subject, hashToken(token)))),

      closeOne: (subject: Subject, id: string) =>
        Effect.map(Effect.orDie(store.removeOne(subject, id)), (removed) => removed.length > 0),

      closeAllOf: (subject: Subject) => Effect.asVoid(Effect.orDie(store.removeAllOf(subject))),

      prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.removeOver(now, now - idleTime))))
    }
  })

  static readonly layer = Layer.effect(Sessions, Sessions.make)
}
