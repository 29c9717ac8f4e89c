/**
 * Visitors sign in at the identity provider, for one gate. The browser keeps a secret; what it was to lead to stands here
 * under the secret's hash and is taken once, so no answer of the provider counts twice or in another browser.
 */
import { native } from "@catenet/crypto/native"
import * as Tokens from "@catenet/crypto/Tokens"
import { SignInRefused } from "@catenet/domain/errors/Authentication"
import { GateNotConfigured, VisitorNotAllowed } from "@catenet/domain/errors/Gate"
import type { Hostname } from "@catenet/domain/Hostname"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SignIns, stateOf } from "../identityProvider/SignIns.ts"
import { unixSeconds } from "../Now.ts"
import { Settings } from "../Settings.ts"
import { asDefects } from "../store/Defects.ts"
import { Gate } from "./Gate.ts"
import { GateSessions } from "./GateSessions.ts"
import * as Store from "./Store.ts"

/** Seconds in which a sign-in has to be finished. */
export const signInLifetime = 600

/** What the browser brings back from the provider. */
export interface Returned {
  readonly secret: Option.Option<Redacted.Redacted>
  /** The session that the browser has already, at this host or another. */
  readonly session: Option.Option<Redacted.Redacted>
  /** With `code` and `state`. */
  readonly query: URLSearchParams
}

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const gate = yield* Gate
  const sessions = yield* GateSessions
  const signIns = yield* SignIns
  const random = yield* SecureRandom.SecureRandom
  const { gateCookieDomain, gateRedirectUri, portalBaseUrl } = yield* Settings
  const redirectUri = gateRedirectUri ?? new URL("/gate/callback", portalBaseUrl)
  const available = gateCookieDomain === undefined ? Option.none() : signIns
  const provider = Effect.mapError(Effect.fromOption(available), () => new GateNotConfigured())

  const hashOf = (secret: Redacted.Redacted) => Tokens.hashText(native, secret)

  return {
    available: Option.isSome(available),

    /** Begins a sign-in that leads to a path of a gated host. Answers what the browser keeps and where it goes. */
    begin: Effect.fn("GateSignIns.begin")(function* (host: Hostname, path: string) {
      const { begin } = yield* provider
      yield* gate.of(host)
      const secret = Tokens.urlText(Redacted.make(yield* random.randomBytes(32)))
      yield* store.begin({ secretHash: hashOf(secret), host, path, expiresAt: (yield* unixSeconds) + signInLifetime })
      return { secret, url: begin(secret, redirectUri, { prompt: "login" }) }
    }, asDefects),

    /** Finishes it: who signed in is let in, or not. */
    finish: Effect.fn("GateSignIns.finish")(function* ({ query, secret, session }: Returned) {
      const { finish } = yield* provider
      if (Option.isNone(secret) || query.get("state") !== stateOf(secret.value)) return yield* new SignInRefused()
      const begun = yield* store.take({ secretHash: hashOf(secret.value), now: yield* unixSeconds })
      if (Option.isNone(begun)) return yield* new SignInRefused()
      const { host, path } = begun.value
      const person = yield* finish(secret.value, { redirectUri, query })
      if (!(yield* gate.admits(yield* gate.of(host), person.subject, person.email))) {
        return yield* new VisitorNotAllowed({ host })
      }
      return { host, path, token: yield* sessions.openFor(person, host, session) }
    }, asDefects)
  }
})

export class GateSignIns extends Context.Service<GateSignIns, Effect.Success<typeof make>>()("server/GateSignIns") {
  static readonly layer = Layer.effect(GateSignIns, make)
}
