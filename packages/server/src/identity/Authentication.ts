/**
 * Accounts of a host program in place of those of the identity provider: the host says who sends a request, and every route that
 * belongs to an account asks it. The portal's pages keep their own sign-in.
 */
import { AccountAccess, BearerAccess, Caller, SessionAccess } from "@catenet/domain/api/Access"
import { Unauthenticated } from "@catenet/domain/identity/AuthenticationErrors"
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Subject"
import { Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"

export interface Account {
  /** Stable and unique among the accounts of the host. */
  readonly subject: Subject
  /** One that the host has verified. */
  readonly email: Email | null
  /** A `session` of a browser may write only from the portal's own origin; a `bearer` from anywhere. */
  readonly means: "bearer" | "session"
}

/** Who sends a request; none is answered 401. */
export type Identify = (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<Option.Option<Account>>

export const layer = (identify: Identify) => {
  const as = <A, E, R>(route: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const account = yield* identify(yield* HttpServerRequest.HttpServerRequest)
      if (Option.isNone(account)) return yield* new Unauthenticated()
      return yield* Effect.provideService(route, Caller, Caller.of(account.value))
    })
  return Layer.mergeAll(
    Layer.succeed(BearerAccess, { bearer: as }),
    Layer.succeed(SessionAccess, { session: as }),
    Layer.succeed(AccountAccess, { session: as, bearer: as })
  )
}
