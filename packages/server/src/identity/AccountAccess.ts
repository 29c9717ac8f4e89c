/**
 * Who may use what belongs to accounts: an access token, a portal session, or either. While no key is known that could
 * verify a token, the routes that take one are not there.
 */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import {
  AccountAccess,
  AdminAccess,
  Administrator,
  BearerAccess,
  Caller,
  SessionAccess
} from "@catenet/domain/api/Access"
import { AdminTokenRefused, Unauthenticated } from "@catenet/domain/identity/AuthenticationErrors"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Layer, Option, Redacted } from "effect"
import { Settings } from "../settings/Settings.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { EmailDomains } from "./EmailDomains.ts"
import { KeySet } from "./KeySet.ts"
import { Sessions } from "./Sessions.ts"

/** The gate of the admin routes. Where no admin token is configured there are no admin routes. */
export const adminAccessLayer = Layer.effect(
  AdminAccess,
  Effect.gen(function* () {
    const { adminToken } = yield* Settings
    return AdminAccess.of({
      admin: (httpEffect, { credential }) =>
        adminToken === undefined
          ? Effect.fail(new RouteNotFound())
          : AdminHeader.matches(adminToken, Redacted.value(credential))
            ? Effect.provideService(httpEffect, Administrator, { means: "admin-token" })
            : Effect.fail(new AdminTokenRefused())
    })
  })
)

/** Made once: a caller has either of two credentials and never both, so this happens on most requests. */
const missing = Effect.fail(new Unauthenticated())

/** Who calls, by one credential or the other. */
export const make = Effect.gen(function* () {
  const keys = yield* KeySet
  const tokens = yield* AccessTokens
  const sessions = yield* Sessions
  const domains = yield* EmailDomains

  const bearer = Effect.fnUntraced(function* (credential: Redacted.Redacted) {
    if (Redacted.value(credential) === "") return yield* missing
    const identity = yield* Effect.mapError(
      tokens.verify(credential),
      ({ _tag }) => new Unauthenticated(_tag === "SubjectMissing" ? { missing: "sub" } : {})
    )
    yield* domains.require(identity)
    const { maker, subject } = identity
    return Caller.of({ subject, email: null, means: "bearer", maker })
  })

  const session = Effect.fnUntraced(function* (credential: Redacted.Redacted) {
    if (Redacted.value(credential) === "") return yield* missing
    const found = yield* sessions.find(credential)
    if (Option.isNone(found)) return yield* new Unauthenticated()
    const { email, subject } = found.value
    yield* domains.require({ subject, email, client: undefined })
    return Caller.of({ subject, email, means: "session" })
  })

  /** Whether the routes are there at all is asked before who is calling. */
  const present = <A, E, R>(caller: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | RouteNotFound, R> =>
      keys.usable() ? caller : Effect.fail(new RouteNotFound())
    )

  return { bearer, session, present }
})

const bearerLayer = Layer.effect(
  BearerAccess,
  Effect.map(make, ({ bearer, present }) =>
    BearerAccess.of({
      bearer: (httpEffect, { credential }) =>
        Effect.flatMap(present(bearer(credential)), (caller) => Effect.provideService(httpEffect, Caller, caller))
    })
  )
)

const sessionLayer = Layer.effect(
  SessionAccess,
  Effect.map(make, ({ session }) =>
    SessionAccess.of({
      session: (httpEffect, { credential }) =>
        Effect.flatMap(session(credential), (caller) => Effect.provideService(httpEffect, Caller, caller))
    })
  )
)

const eitherLayer = Layer.effect(
  AccountAccess,
  Effect.map(make, ({ bearer, present, session }) =>
    AccountAccess.of({
      session: (httpEffect, { credential }) =>
        Effect.flatMap(present(session(credential)), (caller) => Effect.provideService(httpEffect, Caller, caller)),
      bearer: (httpEffect, { credential }) =>
        Effect.flatMap(present(bearer(credential)), (caller) => Effect.provideService(httpEffect, Caller, caller))
    })
  )
)

export const layer = Layer.mergeAll(bearerLayer, sessionLayer, eitherLayer).pipe(
  Layer.provide([AccessTokens.layer, EmailDomains.layer, KeySet.layer, Sessions.layer])
)
