/**
 * Sessions of visitors behind a login gate. A session is for one host, whatever the domain of its cookie, and is asked
 * for at every request: what revokes it takes effect at the next one.
 */
import { native } from "@catenet/crypto/native"
import * as Tokens from "@catenet/crypto/Tokens"
import type { Email } from "@catenet/domain/Email"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { unixSeconds } from "../Now.ts"
import * as Store from "./Store.ts"

/** Seconds of a session that a login gave. */
export const loginLifetime = 28_800

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const random = yield* SecureRandom.SecureRandom

  const open = Effect.fnUntraced(function* (row: Omit<Store.Row, "tokenHash">) {
    const token = Tokens.urlText(Redacted.make(yield* random.randomBytes(32)))
    yield* store.insert({ ...row, tokenHash: Tokens.hashText(native, token) })
    return token
  })

  return {
    /** Inside the transaction that redeems the link. */
    openShared: (shareLinkId: string, host: string, expiresAt: number) =>
      open({ host, shareLinkId, email: null, expiresAt }),

    /** For a visitor whose address the identity provider has verified. */
    openFor: Effect.fn("GateSessions.openFor")(function* (email: Email, host: string) {
      return yield* open({ host, shareLinkId: null, email, expiresAt: (yield* unixSeconds) + loginLifetime })
    }, Effect.orDie),

    /** Who the visitor of a host is: an e-mail address, or `share:` and the id of a link. */
    identityOf: Effect.fnUntraced(function* (token: Redacted.Redacted, host: string) {
      const now = yield* unixSeconds
      const found = yield* store.find({ tokenHash: Tokens.hashText(native, token), host, now })
      return Option.map(found, ({ email, shareLinkId }) => email ?? `share:${shareLinkId}`)
    }),

    /** Forgets sessions that are over. */
    sweep: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.forget(now))))
  }
})

export class GateSessions extends Context.Service<GateSessions, Effect.Success<typeof make>>()("server/GateSessions") {
  static readonly layer = Layer.effect(GateSessions, make)
}
