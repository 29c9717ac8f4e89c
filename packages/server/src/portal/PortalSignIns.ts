/**
 * People sign in to the portal at the identity provider. The browser keeps a secret; where it was to lead stands here
 * under the secret's hash and is taken once. A session knows an address only when the provider has verified it.
 */
import { native } from "@catenet/crypto/native"
import * as Tokens from "@catenet/crypto/Tokens"
import { EmailDomainRefused, SignInNotConfigured, SignInRefused } from "@catenet/domain/errors/Authentication"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { SignIns, stateOf, type Wishes } from "../identityProvider/SignIns.ts"
import { unixSeconds } from "../Now.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { Settings } from "../Settings.ts"
import { asDefects } from "../store/Defects.ts"

/** Seconds in which a sign-in has to be finished. */
export const signInLifetime = 600

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sessions = yield* Sessions
  const signIns = yield* SignIns
  const random = yield* SecureRandom.SecureRandom
  const { allowedEmailDomains, oidcRedirectUri, portalBaseUrl } = yield* Settings
  const redirectUri = oidcRedirectUri ?? new URL("/portal/callback", portalBaseUrl)
  const provider = Effect.mapError(Effect.fromOption(signIns), () => new SignInNotConfigured())
  const domains =
    allowedEmailDomains === undefined ? undefined : new Set(allowedEmailDomains.map((d) => d.toLowerCase()))

  const hashOf = (secret: Redacted.Redacted) => Tokens.hashText(native, secret)
  const take = SqlSchema.findOneOption({
    Request: Schema.Struct({ secretHash: Schema.String, now: Schema.Int }),
    Result: Schema.Struct({ next: Schema.String }),
    execute: ({ now, secretHash }) =>
      sql`delete from portal_sign_ins where secret_hash = ${secretHash} and expires_at > ${now} returning next`
  })

  return {
    available: Option.isSome(signIns),

    /** Begins a sign-in. Answers what the browser keeps and where it goes; `register` opens the form for new people. */
    begin: Effect.fn("PortalSignIns.begin")(function* (next: string, wishes: Wishes, register: boolean) {
      const { begin } = yield* provider
      const secret = Tokens.urlText(Redacted.make(yield* random.randomBytes(32)))
      const expiresAt = (yield* unixSeconds) + signInLifetime
      yield* sql`insert into portal_sign_ins ${sql.insert({ secretHash: hashOf(secret), next, expiresAt })}`
      const url = begin(secret, redirectUri, wishes)
      if (register) url.pathname = url.pathname.replace(/[^/]*$/u, "registrations")
      return { secret, url }
    }, asDefects),

    /** Finishes it: a session of whoever signed in, and where they wanted to go. */
    finish: Effect.fn("PortalSignIns.finish")(function* (returned: {
      readonly secret: Option.Option<Redacted.Redacted>
      readonly query: URLSearchParams
      readonly userAgent: string
    }) {
      const { query, secret, userAgent } = returned
      const { finish } = yield* provider
      if (Option.isNone(secret) || query.get("state") !== stateOf(secret.value)) return yield* new SignInRefused()
      const begun = yield* take({ secretHash: hashOf(secret.value), now: yield* unixSeconds })
      if (Option.isNone(begun)) return yield* new SignInRefused()
      const person = yield* finish(secret.value, { redirectUri, query })
      const domain = person.email?.slice(person.email.lastIndexOf("@") + 1)
      if (domains !== undefined && !domains.has(domain ?? "")) return yield* new EmailDomainRefused()
      return { session: yield* sessions.open({ ...person, userAgent }), next: begun.value.next }
    }, asDefects),

    /** Ends a session here. Answers where its browser is signed out at the provider, when there is one to ask. */
    end: Effect.fn("PortalSignIns.end")(function* (session: Redacted.Redacted) {
      const found = yield* sessions.find(session)
      yield* sessions.close(session)
      const idToken = Option.flatMapNullishOr(found, (own) => own.idToken)
      return Option.map(Option.all({ idToken, signIns }), (known) =>
        known.signIns.end(known.idToken, new URL("/portal", portalBaseUrl))
      )
    }),

    /** Forgets sign-ins that were not finished. */
    sweep: Effect.flatMap(unixSeconds, (now) =>
      Effect.asVoid(Effect.orDie(sql`delete from portal_sign_ins where expires_at <= ${now}`))
    )
  }
})

export class PortalSignIns extends Context.Service<PortalSignIns, Effect.Success<typeof make>>()(
  "server/PortalSignIns"
) {
  static readonly layer = Layer.effect(PortalSignIns, make)
}
