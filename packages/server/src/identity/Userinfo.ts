/**
 * Whose an access token is, where it does not say so itself: Keycloak's short tokens ("lightweight", as those of `admin-cli`)
 * have no `sub`. Only a token whose signature was verified is sent, and only to the issuer that is configured.
 */
import { Data, Deferred, Effect, Redacted, Schema, Semaphore } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"

/** The provider does not say it; `isFinal`: nor will it of this token. */
export class SubjectUnknown extends Data.TaggedError("SubjectUnknown")<{ readonly isFinal: boolean }> {}

const patience = "5 seconds"
/** Questions at the same time; further tokens wait for their turn. */
const maxAtOnce = 16

const Claims = Schema.Struct({
  sub: Schema.String,
  email: Schema.optionalKey(Schema.Unknown),
  email_verified: Schema.optionalKey(Schema.Unknown),
  preferred_username: Schema.optionalKey(Schema.Unknown)
})

/** The claims of the provider's userinfo endpoint. */
export const make = (issuer: string | undefined) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const turns = Semaphore.makeUnsafe(maxAtOnce)
    const asked = Effect.fnUntraced(function* (token: Redacted.Redacted) {
      if (issuer === undefined) return yield* new SubjectUnknown({ isFinal: true })
      const request = HttpClientRequest.get(`${issuer}/protocol/openid-connect/userinfo`)
      const response = yield* client.execute(HttpClientRequest.bearerToken(request, token))
      if (response.status !== 200)
        return yield* new SubjectUnknown({ isFinal: response.status >= 400 && response.status < 500 })
      return yield* HttpClientResponse.schemaBodyJson(Claims)(response)
    })
    const bounded = (token: Redacted.Redacted) =>
      asked(token).pipe(
        Effect.timeout(patience),
        turns.withPermits(1),
        Effect.mapError((error) => (error instanceof SubjectUnknown ? error : new SubjectUnknown({ isFinal: false })))
      )
    const running = new Map<string, Deferred.Deferred<typeof Claims.Type, SubjectUnknown>>()
    return {
      /** Requests with the same token share one question, which goes on when one of them is given up. */
      claimsOf: Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const key = Redacted.value(token)
        const before = running.get(key)
        if (before !== undefined) return yield* Deferred.await(before)
        const answer = yield* Deferred.make<typeof Claims.Type, SubjectUnknown>()
        running.set(key, answer)
        const settled = bounded(token).pipe(
          Effect.onExit((exit) => Deferred.done(answer, exit)),
          // Those that were verified meanwhile come a moment later than the answer.
          Effect.andThen(Effect.sleep("1 second")),
          Effect.ensuring(Effect.sync(() => running.delete(key)))
        )
        yield* Effect.forkDetach(settled)
        return yield* Deferred.await(answer)
      })
    }
  }).pipe(Effect.provide(OutgoingHttp.layer))
