/**
 * Sign-ins in progress. The browser keeps a secret; the target of the sign-in is stored under the secret's hash and
 * taken once, so an answer of the provider counts neither twice nor in another browser.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { SignInCancelled, SignInFailed, SignInRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { type Provider, stateOf, type Wishes } from "./SignIns.ts"

// The provider's answer to a sign-in that it did not complete: `error` in the place of a code (RFC 6749, 4.1.2.1).

/** The refusal that the browser sees for an error of the provider; undefined where the answer names none. */
export const refusalOf = (query: URLSearchParams): SignInCancelled | SignInFailed | undefined => {
  const error = query.get("error") ?? ""
  if (error === "") return undefined
  return error === "access_denied" ? new SignInCancelled() : new SignInFailed()
}

/** Seconds in which a sign-in has to be finished. */
export const signInLifetime = 600

/** A table of sign-ins with what each is to lead to. `take` ends one, and only one caller gets it. */
export interface Table<Aim, E, E2> {
  readonly keep: (row: Aim & { readonly secretHash: string; readonly expiresAt: number }) => Effect.Effect<unknown, E>
  readonly take: (row: { readonly secretHash: string; readonly now: number }) => Effect.Effect<Option.Option<Aim>, E2>
}

/** What the browser brings back from the provider. */
export interface Returned {
  readonly secret: Option.Option<Redacted.Redacted>
  /** With `code` and `state`. */
  readonly query: URLSearchParams
}

const hashToken = (secret: Redacted.Redacted) => TokenEncoding.hashText(native, secret)

export const make = <Aim, E, E2>(redirectUri: URL, { keep, take }: Table<Aim, E, E2>) =>
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    return {
      /** Answers what the browser keeps and where it goes. */
      begin: Effect.fnUntraced(function* (provider: Provider, aim: Aim, wishes: Wishes) {
        const secret = TokenEncoding.urlText(Redacted.make(yield* random.randomBytes(32)))
        yield* keep({ ...aim, secretHash: hashToken(secret), expiresAt: (yield* unixSeconds) + signInLifetime })
        return { secret, url: provider.begin(secret, redirectUri, wishes) }
      }),

      /** Answers what it was to lead to, and who has signed in. */
      finish: Effect.fnUntraced(function* (provider: Provider, { query, secret }: Returned) {
        if (Option.isNone(secret) || query.get("state") !== stateOf(secret.value)) return yield* new SignInRefused()
        const begun = yield* take({ secretHash: hashToken(secret.value), now: yield* unixSeconds })
        if (Option.isNone(begun)) return yield* new SignInRefused()
        return { aim: begun.value, person: yield* provider.finish(secret.value, { redirectUri, query }) }
      })
    }
  })
