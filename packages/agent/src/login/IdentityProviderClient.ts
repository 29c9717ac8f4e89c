/**
 * Calls of the identity provider: device authorization, tokens, and which provider a control plane names. Each is limited to 15 s
 * and results in a response, a named error, or silence.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { unixSeconds } from "@catenet/platform/UnixTime"
import { Data, Effect, Option, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Unreachable } from "../Failure.ts"
import { describe } from "../onboard/HttpErrors.ts"
import { baseUrl } from "../settings/HostPort.ts"
import { quoted } from "./StoredLogin.ts"

/** The identity provider whose tokens a control plane accepts: the first one in its protected-resource metadata (RFC 9728). */
const discoveryBound = "10 seconds"
const decodeResourceMetadata = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ authorization_servers: Schema.NonEmptyArray(Schema.String) }))
)

const unnamed = (controlPlane: string) =>
  ConfigurationInvalid.of(
    "CT_OIDC_ISSUER",
    `is not set, and the control plane at ${controlPlane} names no identity provider`,
    "set it to the address of the realm"
  )

export const issuerOf = Effect.fn("IdentityProviderClient.issuerOf")(function* (controlPlane: string) {
  const client = yield* HttpClient.HttpClient
  const away = (why: string) =>
    new Unreachable({
      detail: `The control plane at ${controlPlane} does not say who its identity provider is: ${clause(why)}. Check the address, or set CT_OIDC_ISSUER.`
    })
  const { status, text } = yield* Effect.gen(function* () {
    const response = yield* client.get(`${controlPlane}/.well-known/oauth-protected-resource`)
    return { status: response.status, text: yield* response.text }
  }).pipe(
    Effect.mapError((error) => away(describe(error))),
    Effect.timeoutOrElse({
      duration: discoveryBound,
      orElse: () => Effect.fail(away(`no answer within ${discoveryBound}`))
    })
  )
  if (status === 404) return yield* unnamed(controlPlane)
  if (status !== 200) return yield* away(`it answered ${status}`)
  const { authorization_servers: issuers } = yield* Effect.mapError(decodeResourceMetadata(text), () =>
    unnamed(controlPlane)
  )
  const issuer = baseUrl.parse(issuers[0])
  return issuer === undefined ? yield* unnamed(controlPlane) : issuer
})

const bound = "15 seconds"

/** The provider answered with an error; retrying does not help, unless `code` says to wait. */
export class ProviderRefused extends Data.TaggedError("ProviderRefused")<{
  /** A code of RFC 6749 or 8628; undefined for any other error. */
  readonly code: string | undefined
  readonly reason: string
}> {}

/** No response, or a server error. */
export class ProviderAway extends Data.TaggedError("ProviderAway")<{ readonly reason: string }> {}

/** Where a realm has its endpoints. */
const endpoint = (issuer: string, path: string) => `${issuer.replace(/\/+$/u, "")}/protocol/openid-connect/${path}`

const Problem = Schema.fromJsonString(
  Schema.Struct({ error: Schema.String, error_description: Schema.optionalKey(Schema.String) })
)
const problemOf = Schema.decodeUnknownOption(Problem)

/** The text of a 2xx answer to this form. */
const post = Effect.fnUntraced(
  function* (url: string, form: Readonly<Record<string, string>>) {
    const client = yield* HttpClient.HttpClient
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyUrlParams(form),
      HttpClientRequest.acceptJson
    )
    const response = yield* client.execute(request)
    return { status: response.status, text: yield* response.text }
  },
  Effect.timeoutOrElse({
    duration: bound,
    orElse: () => Effect.fail(new ProviderAway({ reason: `no answer within ${bound}` }))
  }),
  Effect.mapError((error) => (error instanceof ProviderAway ? error : new ProviderAway({ reason: describe(error) }))),
  Effect.flatMap(({ status, text }): Effect.Effect<string, ProviderAway | ProviderRefused> => {
    if (status >= 200 && status < 300) return Effect.succeed(text)
    if (status >= 500 || status === 429) return Effect.fail(new ProviderAway({ reason: `it answered ${status}` }))
    const problem = Option.getOrUndefined(problemOf(text))
    const reason = [problem?.error, problem?.error_description].filter((part) => part !== undefined).join(", ")
    return Effect.fail(
      new ProviderRefused({
        code: problem?.error,
        reason: `it answered ${status}${reason === "" ? "" : `: ${quoted(reason)}`}`
      })
    )
  })
)

const unreadable = () => new ProviderAway({ reason: "its answer cannot be read" })
const read = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return (text: string) => Effect.mapError(decode(text), unreadable)
}

const Secret = Schema.RedactedFromValue(Schema.NonEmptyString, { label: "token" })
const Seconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Address = Schema.String.check(Schema.isPattern(/^https?:\/\/[\x21-\x7e]{1,2000}$/u))

const readDevice = read(
  Schema.Struct({
    device_code: Secret,
    user_code: Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,64}$/u)),
    verification_uri: Address,
    verification_uri_complete: Schema.optionalKey(Address),
    expires_in: Schema.optionalKey(Seconds),
    interval: Schema.optionalKey(Seconds)
  })
)

/** Requests a code for a person to enter. */
export const device = Effect.fn("IdentityProviderClient.device")(function* (issuer: string, clientId: string) {
  const form = { client_id: clientId, scope: "openid" }
  return yield* Effect.flatMap(post(endpoint(issuer, "auth/device"), form), readDevice)
})

const readTokens = read(
  Schema.Struct({
    access_token: Secret,
    refresh_token: Schema.optionalKey(Secret),
    expires_in: Schema.optionalKey(Seconds),
    refresh_expires_in: Schema.optionalKey(Seconds)
  })
)

/** The tokens, and their expiry in Unix seconds. */
export const tokens = Effect.fn("IdentityProviderClient.tokens")(function* (
  issuer: string,
  form: Readonly<Record<string, string>>
) {
  const asked = yield* unixSeconds
  const given = yield* Effect.flatMap(post(endpoint(issuer, "token"), form), readTokens)
  const endOf = (seconds: number | undefined) => (seconds === undefined ? undefined : asked + Math.floor(seconds))
  return {
    accessToken: given.access_token,
    refreshToken: given.refresh_token,
    accessExpiresAt: endOf(given.expires_in),
    // Keycloak sends 0 for a token that does not expire.
    refreshExpiresAt: given.refresh_expires_in === 0 ? undefined : endOf(given.refresh_expires_in)
  }
})

/** Ends a refresh token at the provider. */
export const revoke = Effect.fn("IdentityProviderClient.revoke")(function* (
  issuer: string,
  clientId: string,
  token: Redacted.Redacted
) {
  const form = { client_id: clientId, token: Redacted.value(token), token_type_hint: "refresh_token" }
  yield* post(endpoint(issuer, "revoke"), form)
})
