/**
 * Portal sessions. The cookie holds a random token, the database its hash: signing out ends the session wherever the
 * cookie was copied to. A session ends after ten hours, or two without use.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Subject"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"
import * as Store from "./SessionStore.ts"

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
    const store = yield* Store.make
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

  static readonly layerNoDeps = Layer.effect(Sessions, Sessions.make)
  static readonly layer = Sessions.layerNoDeps
}
