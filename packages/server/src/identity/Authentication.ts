/**
 * Accounts of a host program in place of those of the identity provider: the host says who sends a request, and every route that
 * belongs to an account asks it. The portal's pages keep their own sign-in.
 */
import { AccountAccess, BearerAccess, Caller, SessionAccess } from "@catenet/domain/api/Access"
import { Unauthenticated } from "@catenet/domain/identity/AuthenticationErrors"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"

export interface Account {
  /** Stable and unique among the accounts of the host; 1 to 255 characters. */
  readonly subject: string
  /** An address that the host has verified. */
  readonly email: string | null
  /** A `session` of a browser may write only from the portal's own origin; a `bearer` from anywhere. */
  readonly means: "bearer" | "session"
}

const decode = Schema.decodeUnknownEffect(Schema.Struct({ subject: Subject, email: Schema.NullOr(Email) }))

/** Returns the account that sends a request; none is answered 401. */
export type Identify = (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<Option.Option<Account>>

export const layer = (identify: Identify) => {
  const as = <A, E, R>(route: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const account = yield* identify(yield* HttpServerRequest.HttpServerRequest)
      if (Option.isNone(account)) return yield* new Unauthenticated()
      const { means } = account.value
      // An account that cannot be one is a fault of the host, not of the caller.
      const caller = { ...(yield* Effect.orDie(decode(account.value))), means }
      return yield* Effect.provideService(route, Caller, Caller.of(caller))
    })
  return Layer.mergeAll(
    Layer.succeed(BearerAccess, { bearer: as }),
    Layer.succeed(SessionAccess, { session: as }),
    Layer.succeed(AccountAccess, { session: as, bearer: as })
  )
}
