/**
 * The access token that opens the provider's admin REST. It is kept until shortly before it expires, and asked for once
 * however many wait for it.
 */
import { Clock, Effect, Redacted, Schema, Semaphore } from "effect"
import { type HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

/** Milliseconds before its expiry in which a token is no longer used. */
const margin = 30_000

/** Who asks, and at which realm. */
export interface Login {
  readonly realm: string
  readonly form: Readonly<Record<string, Redacted.Redacted>>
}

const form = (grantType: string, fields: Readonly<Record<string, Redacted.Redacted>>) => ({
  grant_type: Redacted.make(grantType),
  ...fields
})

/** A confidential client of the realm that stands for itself. */
export const asClient = (realm: string, clientId: string, clientSecret: Redacted.Redacted): Login => ({
  realm,
  form: form("client_credentials", { client_id: Redacted.make(clientId), client_secret: clientSecret })
})

/** An administrator of the provider, by its own public admin client. */
export const asAdministrator = (username: string, password: Redacted.Redacted): Login => ({
  realm: "master",
  form: form("password", { client_id: Redacted.make("admin-cli"), username: Redacted.make(username), password })
})

const Answer = Schema.Struct({
  access_token: Schema.RedactedFromValue(Schema.NonEmptyString),
  expires_in: Schema.Finite
})

/** Tokens for one login at the provider below `base`. */
export const make = (client: HttpClient.HttpClient, base: string, login: Login) => {
  const one = Semaphore.makeUnsafe(1)
  let held: { readonly token: Redacted.Redacted; readonly until: number } | undefined

  const fetchToken = Effect.gen(function* () {
    const fields = Object.entries(login.form).map(([name, value]) => [name, Redacted.value(value)] as const)
    const request = HttpClientRequest.post(`${base}/realms/${login.realm}/protocol/openid-connect/token`).pipe(
      HttpClientRequest.bodyUrlParams(Object.fromEntries(fields))
    )
    const response = yield* Effect.flatMap(client.execute(request), HttpClientResponse.filterStatusOk)
    const { access_token, expires_in } = yield* HttpClientResponse.schemaBodyJson(Answer)(response)
    held = { token: access_token, until: (yield* Clock.currentTimeMillis) + expires_in * 1000 - margin }
    return access_token
  })

  return {
    /** A token that is still good for a while. */
    get: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return held !== undefined && held.until > now ? held.token : yield* fetchToken
    }).pipe(one.withPermits(1)),
    /** Drops a token that the provider has refused; one that has replaced it since stays. */
    drop: (token: Redacted.Redacted) =>
      Effect.sync(() => {
        if (held?.token === token) held = undefined
      })
  }
}
