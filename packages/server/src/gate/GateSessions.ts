/**
 * Sessions of visitors behind login gates. A session is for one host, whatever the domain of its cookie, and is asked for
 * at every request: what revokes it takes effect at the next one. One cookie may stand for sessions at several hosts.
 */
import { native } from "@catenet/crypto/native"
import * as Tokens from "@catenet/crypto/Tokens"
import type { Email } from "@catenet/domain/Email"
import type { Subject } from "@catenet/domain/Subject"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { unixSeconds } from "../Now.ts"
import * as Store from "./Store.ts"

/** Seconds of a session that a login gave. */
export const loginLifetime = 28_800

const hashOf = (token: Redacted.Redacted) => Tokens.hashText(native, token)

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const random = yield* SecureRandom.SecureRandom

  const open = Effect.fnUntraced(function* (row: Omit<Store.Session, "tokenHash">) {
    const token = Tokens.urlText(Redacted.make(yield* random.randomBytes(32)))
    yield* store.open({ ...row, tokenHash: hashOf(token) })
    return token
  })

  return {
    /** Inside the transaction that redeems the link. */
    openShared: (shareLinkId: string, host: string, expiresAt: number) =>
      open({ host, shareLinkId, subject: null, email: null, expiresAt }),

    /**
     * For a visitor who has signed in; `email` is one that the identity provider has verified. The cookie is always a new
     * one, as any host of the zone could have planted the old; what that stood for elsewhere goes on under the new.
     */
    openFor: Effect.fn("GateSessions.openFor")(
      function* (
        visitor: { readonly subject: Subject; readonly email: Email | null },
        host: string,
        previous: Option.Option<Redacted.Redacted>
      ) {
        const { email, subject } = visitor
        const expiresAt = (yield* unixSeconds) + loginLifetime
        const token = yield* open({ host, shareLinkId: null, subject, email, expiresAt })
        if (Option.isSome(previous)) yield* store.carry(hashOf(previous.value), hashOf(token), host)
        return token
      },
      store.transaction,
      Effect.orDie
    ),

    /** Who the visitor of a host is: an e-mail address, an account without one, or `share:` and the id of a link. */
    identityOf: Effect.fnUntraced(function* (token: Redacted.Redacted, host: string) {
      const now = yield* unixSeconds
      const found = yield* store.find({ tokenHash: hashOf(token), host, now })
      return Option.map(found, ({ email, shareLinkId, subject }) => email ?? subject ?? `share:${shareLinkId}`)
    }),

    /** Ends all sessions of a cookie. */
    close: (token: Redacted.Redacted) => Effect.asVoid(Effect.orDie(store.close(hashOf(token)))),

    /** Forgets sessions and sign-ins that are over. */
    sweep: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.forget(now))))
  }
})

export class GateSessions extends Context.Service<GateSessions, Effect.Success<typeof make>>()("server/GateSessions") {
  static readonly layer = Layer.effect(GateSessions, make)
}
