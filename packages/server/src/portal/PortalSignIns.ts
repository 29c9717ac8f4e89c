/** Sign-in to the portal at the identity provider. A session has an address only if the provider has verified it. */
import {
  type EmailDomainRefused,
  type SignInFailed,
  SignInNotConfigured,
  type SignInRefused
} from "@catenet/domain/identity/AuthenticationErrors"
import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { EmailDomains } from "../identity/EmailDomains.ts"
import * as PendingSignIns from "../identity/PendingSignIns.ts"
import { Sessions } from "../identity/Sessions.ts"
import { SignIns, type Wishes } from "../identity/SignIns.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Sealing } from "../store/Sealing.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

/** Where somebody goes after signing in: a page of the portal and nowhere else. */
export const home = "/portal/home"

/**
 * A path of the portal of at most 512 characters without backslashes and control characters; anything else is the home
 * page. Read as a browser would: what leads out of the portal by its dots is anything else too.
 */
export const nextPath = (text: string | null | undefined): string => {
  if (text === null || text === undefined || text.length > 512 || !/^\/portal(?:[/?#]|$)/u.test(text)) return home
  if (/[\\\p{Cc}\p{Cs}]/u.test(text) || !URL.canParse(text, "https://portal.invalid")) return home
  const { hash, pathname, search } = new URL(text, "https://portal.invalid")
  return /^\/portal(?:\/|$)/u.test(pathname) ? `${pathname}${search}${hash}` : home
}

/** What the browser brings back from the provider. */
export interface Returned extends PendingSignIns.Returned {
  readonly userAgent: string
}

export class PortalSignIns extends Context.Service<
  PortalSignIns,
  {
    readonly available: boolean
    /** Begins a sign-in. Answers what the browser keeps and where it goes; `register` opens the form for new people. */
    readonly begin: (
      next: string,
      wishes: Wishes,
      register: boolean
    ) => Effect.Effect<{ readonly secret: Redacted.Redacted; readonly url: URL }, SignInNotConfigured>
    /** Finishes it: a session of the person, and the address that the person asked for. */
    readonly finish: (
      returned: Returned
    ) => Effect.Effect<
      { readonly session: Redacted.Redacted; readonly next: string },
      EmailDomainRefused | SignInFailed | SignInNotConfigured | SignInRefused
    >
    /** Ends a session here. Answers where its browser is signed out at the provider, when there is one to ask. */
    readonly end: (session: Redacted.Redacted, language: string) => Effect.Effect<Option.Option<URL>>
    /** Deletes sign-ins that were not finished. */
    readonly prune: Effect.Effect<void>
  }
>()("server/portal/PortalSignIns") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const sessions = yield* Sessions
    const { forPortal: signIns } = yield* SignIns
    const domains = yield* EmailDomains
    const { oidcRedirectUri, portalBaseUrl } = yield* Settings
    const sealing = yield* Sealing
    const provider = Effect.mapError(Effect.fromOption(signIns), () => new SignInNotConfigured())

    const begun = yield* PendingSignIns.make(oidcRedirectUri ?? new URL("/portal/callback", portalBaseUrl), {
      /** The address may carry a secret, such as that of an invite. */
      keep: (row: { readonly next: string; readonly secretHash: string; readonly expiresAt: number }) =>
        sql`insert into portal_sign_ins ${sql.insert({ ...row, next: sealing.seal("portal_sign_ins.next", row.next) })}`,
      take: SqlSchema.findOneOption({
        Request: Schema.Struct({ secretHash: Schema.String, now: Schema.Int }),
        Result: Schema.Struct({ next: sealing.column("portal_sign_ins.next", Schema.String) }),
        execute: ({ now, secretHash }) =>
          sql`delete from portal_sign_ins where secret_hash = ${secretHash} and expires_at > ${now} returning next`
      })
    })

    return {
      available: Option.isSome(signIns),

      begin: Effect.fn("PortalSignIns.begin")(function* (next: string, wishes: Wishes, register: boolean) {
        const { secret, url } = yield* begun.begin(yield* provider, { next }, wishes)
        if (register) url.pathname = url.pathname.replace(/[^/]*$/u, "registrations")
        return { secret, url }
      }, sqlOrDie),

      finish: Effect.fn("PortalSignIns.finish")(function* (returned: Returned) {
        const { aim, person } = yield* begun.finish(yield* provider, returned)
        yield* domains.require({ ...person, client: undefined })
        if (person.email !== null) yield* domains.record(person.subject, person.email)
        return { session: yield* sessions.open({ ...person, userAgent: returned.userAgent }), next: aim.next }
      }, sqlOrDie),

      end: Effect.fn("PortalSignIns.end")(function* (session: Redacted.Redacted, language: string) {
        const idToken = yield* sessions.close(session)
        return Option.map(Option.all({ idToken, signIns }), (known) =>
          known.signIns.end(known.idToken, new URL("/portal", portalBaseUrl), language)
        )
      }),

      prune: Effect.flatMap(unixSeconds, (now) =>
        Effect.asVoid(Effect.orDie(sql`delete from portal_sign_ins where expires_at <= ${now}`))
      )
    }
  })

  static readonly layer = Layer.effect(PortalSignIns, PortalSignIns.make).pipe(
    Layer.provide([EmailDomains.layer, Sessions.layer, SignIns.layer])
  )
}
