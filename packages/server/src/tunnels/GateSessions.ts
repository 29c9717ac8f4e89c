/**
 * Sessions of visitors behind login gates. Each is for one host, with a cookie of that host: copied to another host it
 * is worthless. Ending one takes effect at the next request, and edges are told.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql"
import { freshHex32 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { GateCodeStore, type Visitor } from "./GateCodeStore.ts"
import { GateStore } from "./GateStore.ts"
import { LoginOrders } from "./LoginOrders.ts"

/** Seconds of a session that a login gave. */
export const loginLifetime = 28_800

const hashToken = (token: Redacted.Redacted) => TokenEncoding.hashText(native, token)

export class GateSessions extends Context.Service<
  GateSessions,
  {
    readonly open: (visitor: Visitor, host: string) => Effect.Effect<Redacted.Redacted>
    /** Inside the transaction that redeems the link. */
    readonly openShared: (
      shareLinkId: string,
      host: string,
      expiresAt: number
    ) => Effect.Effect<Redacted.Redacted, SqlError.SqlError>
    /** A visitor who has just signed in; `email` is one that the identity provider has verified. */
    readonly signedIn: (person: { readonly subject: Subject; readonly email: Email | null }) => Effect.Effect<Visitor>
    /** Whose a session is, while it holds. */
    readonly visitorOf: (token: Redacted.Redacted, host: string) => Effect.Effect<Option.Option<Visitor>>
    /** Ends the sign-in of a cookie, wherever it led; `host`, where given, has to be that of the session. */
    readonly close: (token: Redacted.Redacted, host?: string) => Effect.Effect<void>
    /** The same by the hash of the token. */
    readonly closeHashed: (tokenHash: string, host: string) => Effect.Effect<void>
    /** Ends every session of the account, inside the transaction that ends the account. */
    readonly closeAllOf: (subject: Subject) => Effect.Effect<void>
    /** Removes sessions, codes and sign-ins that are over. */
    readonly prune: Effect.Effect<void>
  }
>()("server/tunnels/GateSessions") {
  static readonly make = Effect.gen(function* () {
    const store = yield* GateStore
    const codes = yield* GateCodeStore
    const orders = yield* LoginOrders
    const random = yield* SecureRandom.SecureRandom
    const signInId = Effect.provideService(freshHex32, SecureRandom.SecureRandom, random)

    /** Opens a session at the platform itself, from which the host's own is made. Answers what the cookie is to hold. */
    const open = Effect.fnUntraced(function* (visitor: Visitor, host: string) {
      const token = TokenEncoding.urlText(Redacted.make(yield* random.randomBytes(32)))
      yield* store.open({ ...visitor, host, tokenHash: hashToken(token) })
      return token
    })

    const closed = Effect.fnUntraced(
      function* (tokenHash: string, host: string | null) {
        const found = yield* store.signInOf({ tokenHash, host })
        if (Option.isNone(found)) return
        yield* codes.drop(found.value.signIn)
        for (const ended of yield* store.close(found.value.signIn)) yield* orders.sessionEnded(ended.host)
      },
      store.transaction,
      sqlOrDie
    )

    return {
      open: (visitor: Visitor, host: string) => open(visitor, host).pipe(Effect.orDie),

      openShared: Effect.fnUntraced(function* (shareLinkId: string, host: string, expiresAt: number) {
        return yield* open({ shareLinkId, subject: null, email: null, expiresAt, signIn: yield* signInId }, host)
      }),

      signedIn: Effect.fnUntraced(function* ({
        email,
        subject
      }: {
        readonly subject: Subject
        readonly email: Email | null
      }) {
        const expiresAt = (yield* unixSeconds) + loginLifetime
        const visitor: Visitor = { subject, email, shareLinkId: null, expiresAt, signIn: yield* signInId }
        return visitor
      }),

      visitorOf: Effect.fnUntraced(function* (token: Redacted.Redacted, host: string) {
        const found = yield* store.visit({ tokenHash: hashToken(token), host, now: yield* unixSeconds })
        return Option.flatMap(found, ({ email, expiresAt, shareLinkId, signIn, subject }) =>
          expiresAt === null || signIn === null
            ? Option.none()
            : Option.some({ subject, email, shareLinkId, expiresAt, signIn })
        )
      }, sqlOrDie),

      close: Effect.fn("GateSessions.close")((token: Redacted.Redacted, host?: string) =>
        closed(hashToken(token), host ?? null)
      ),

      closeHashed: Effect.fn("GateSessions.closeHashed")(closed),

      closeAllOf: Effect.fn("GateSessions.closeAllOf")(function* (subject: Subject) {
        yield* codes.dropOf(subject)
        const hosts = new Set((yield* store.closeOf(subject)).map(({ host }) => host))
        for (const host of hosts) yield* orders.sessionEnded(host)
      }, sqlOrDie),

      prune: Effect.flatMap(unixSeconds, (now) =>
        Effect.asVoid(Effect.orDie(Effect.andThen(store.prune(now), codes.prune(now))))
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(GateSessions, GateSessions.make)
  static readonly layer = GateSessions.layerNoDeps.pipe(
    Layer.provide([GateCodeStore.layer, GateStore.layer, LoginOrders.layer])
  )
}
