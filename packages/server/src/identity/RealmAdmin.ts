/**
 * Manages clients of the identity provider's realm through Keycloak's admin REST. Every call may be repeated: an
 * existing client is found, a deleted one counts as deleted. Secrets pass through and are not stored.
 */
import { IdentityProviderFailed, IdentityProviderNotConfigured } from "@catenet/domain/identity/AuthenticationErrors"
import type { ClientId } from "@catenet/domain/identity/ServiceAccount"
import { ClientSecret } from "@catenet/domain/values/Tokens"
import { Clock, Context, Data, Effect, Layer, Redacted, Schema, Semaphore } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"

// The access token that opens the provider's admin REST. It is kept until shortly before it expires, and asked for once
// however many wait for it.

/** Milliseconds before its expiry in which a token is no longer used. */
const margin = 30_000

/** Who asks, and at which realm. */
interface Login {
  readonly realm: string
  readonly form: Readonly<Record<string, Redacted.Redacted>>
}

const form = (grantType: string, fields: Readonly<Record<string, Redacted.Redacted>>) => ({
  grant_type: Redacted.make(grantType),
  ...fields
})

/** A confidential client of the realm that stands for itself. */
const asClient = (realm: string, clientId: string, clientSecret: Redacted.Redacted): Login => ({
  realm,
  form: form("client_credentials", { client_id: Redacted.make(clientId), client_secret: clientSecret })
})

/** An administrator of the provider, by its own public admin client. */
const asAdministrator = (username: string, password: Redacted.Redacted): Login => ({
  realm: "master",
  form: form("password", { client_id: Redacted.make("admin-cli"), username: Redacted.make(username), password })
})

const Answer = Schema.Struct({
  access_token: Schema.RedactedFromValue(Schema.NonEmptyString),
  expires_in: Schema.Finite
})

/** Tokens for one login at the provider below `base`. */
const makeAdminToken = (client: HttpClient.HttpClient, base: string, login: Login) => {
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

// A service account as the admin REST creates it, in Keycloak's words.

/** Tokens that a client gets for itself carry no useful audience unless a mapper puts it there. */
const audienceMapper = (audience: string) => ({
  name: "audience",
  protocol: "openid-connect",
  protocolMapper: "oidc-audience-mapper",
  config: { "included.custom.audience": audience, "access.token.claim": "true", "id.token.claim": "false" }
})

/** A confidential client that can get tokens for itself and nothing else: no browser flow, no passwords, no roles. */
const representation = (clientId: ClientId, name: string, audience: string | undefined) => ({
  clientId,
  name,
  protocol: "openid-connect",
  enabled: true,
  publicClient: false,
  standardFlowEnabled: false,
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: true,
  authorizationServicesEnabled: false,
  fullScopeAllowed: false,
  clientAuthenticatorType: "client-secret",
  protocolMappers: audience === undefined ? [] : [audienceMapper(audience)]
})

/** The provider's own id of a client, by which its admin REST addresses it. */
export const InternalId = Schema.String.check(Schema.isPattern(/^[\w.-]{1,255}$/u)).pipe(Schema.brand("InternalId"))
export type InternalId = typeof InternalId.Type

const Secret = Schema.Struct({ value: ClientSecret })
const Found = Schema.Array(Schema.Struct({ id: InternalId, clientId: Schema.String }))

/** Applications that an account has let sign in as itself; Keycloak does not say for which addresses. */
const Consents = Schema.Array(
  Schema.Struct({
    clientId: Schema.String,
    clientName: Schema.optionalKey(Schema.String),
    createdDate: Schema.Finite,
    resources: Schema.optionalKey(Schema.Array(Schema.String))
  })
)
export type Consent = (typeof Consents.Type)[number]

/** The provider answered with a status that the call does not know. */
class UnexpectedStatus extends Data.TaggedError("UnexpectedStatus")<{ readonly status: number }> {}

/** No call takes longer. The provider may carry it out all the same. */
const timeLimit = "10 seconds"

/** What is wrong, for the log: nothing of a request or an answer, which may hold secrets. */
const reasonOf = (error: { readonly _tag: string }) => {
  if (error instanceof UnexpectedStatus) return `it answered ${error.status}`
  if (!HttpClientError.isHttpClientError(error)) return error._tag
  const status = error.response?.status
  return status === undefined ? error.reason._tag : `it answered ${status}`
}

const failed =
  (call: string) =>
  <A, E extends { readonly _tag: string }, R>(self: Effect.Effect<A, E, R>) =>
    self.pipe(
      Effect.timeout(timeLimit),
      Effect.tapError((error) =>
        Effect.logWarning("A call to the identity provider failed.", { call, why: reasonOf(error) })
      ),
      Effect.mapError(() => new IdentityProviderFailed()),
      Effect.withSpan(`RealmAdmin.${call}`)
    )

const expect =
  (...statuses: ReadonlyArray<number>) =>
  (response: HttpClientResponse.HttpClientResponse) =>
    statuses.includes(response.status)
      ? Effect.succeed(response)
      : Effect.fail(new UnexpectedStatus({ status: response.status }))

interface Access {
  readonly base: string
  readonly realm: string
  readonly login: Login
  readonly audience: string | undefined
}

const connect = (client: HttpClient.HttpClient, { audience, base, login, realm }: Access) => {
  const tokens = makeAdminToken(client, base, login)
  const admin = `${base}/admin/realms/${encodeURIComponent(realm)}`
  const clients = `${admin}/clients`
  const consentsOf = (subject: string) => `${admin}/users/${encodeURIComponent(subject)}/consents`

  const ask = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
    const token = yield* tokens.get
    const response = yield* client.execute(HttpClientRequest.bearerToken(request, token))
    if (response.status !== 401) return response
    yield* tokens.drop(token)
    return yield* client.execute(HttpClientRequest.bearerToken(request, yield* tokens.get))
  })

  const find = Effect.fnUntraced(function* (clientId: ClientId) {
    const response = yield* ask(HttpClientRequest.get(clients, { urlParams: { clientId } }))
    const found = yield* Effect.flatMap(expect(200)(response), HttpClientResponse.schemaBodyJson(Found))
    return found.find((each) => each.clientId === clientId)?.id
  })

  const secretOf = (request: HttpClientRequest.HttpClientRequest) =>
    ask(request).pipe(
      Effect.flatMap(expect(200)),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Secret)),
      Effect.map(({ value }) => value)
    )

  return {
    createClient: Effect.fnUntraced(function* (clientId: ClientId, name: string) {
      const wanted = representation(clientId, name, audience)
      const response = yield* Effect.flatMap(
        ask(HttpClientRequest.post(clients).pipe(HttpClientRequest.bodyJsonUnsafe(wanted))),
        expect(201, 409)
      )
      const id = response.status === 201 ? response.headers["location"]?.split("/").at(-1) : yield* find(clientId)
      return yield* Schema.decodeUnknownEffect(InternalId)(id)
    }),
    secret: (id: InternalId) => secretOf(HttpClientRequest.get(`${clients}/${id}/client-secret`)),
    rotateSecret: (id: InternalId) =>
      secretOf(HttpClientRequest.post(`${clients}/${id}/client-secret`).pipe(HttpClientRequest.bodyJsonUnsafe({}))),
    consents: (subject: string) =>
      ask(HttpClientRequest.get(consentsOf(subject))).pipe(
        Effect.flatMap(expect(200)),
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Consents))
      ),
    endConsent: (subject: string, clientId: string) =>
      Effect.flatMap(
        ask(HttpClientRequest.delete(`${consentsOf(subject)}/${encodeURIComponent(clientId)}`)),
        expect(204, 404)
      ),
    deleteClient: Effect.fnUntraced(function* (clientId: ClientId, known: InternalId | null) {
      const id = known ?? (yield* find(clientId))
      if (id !== undefined) yield* Effect.flatMap(ask(HttpClientRequest.delete(`${clients}/${id}`)), expect(204, 404))
    })
  }
}

export class RealmAdmin extends Context.Service<
  RealmAdmin,
  {
    /** Fails where there is no administrative access to a provider. */
    readonly configured: Effect.Effect<void, IdentityProviderNotConfigured>
    /** Makes a client that stands for itself, and answers the provider's id of it. */
    readonly createClient: (
      clientId: ClientId,
      name: string
    ) => Effect.Effect<InternalId, IdentityProviderFailed | IdentityProviderNotConfigured>
    /** The secret that the provider has made for a client. */
    readonly secret: (
      id: InternalId
    ) => Effect.Effect<Redacted.Redacted, IdentityProviderFailed | IdentityProviderNotConfigured>
    /** Replaces the secret of a client; the old one is worthless at once. */
    readonly rotateSecret: (
      id: InternalId
    ) => Effect.Effect<Redacted.Redacted, IdentityProviderFailed | IdentityProviderNotConfigured>
    /** The applications that an account has let sign in as itself. */
    readonly consents: (
      subject: string
    ) => Effect.Effect<ReadonlyArray<Consent>, IdentityProviderFailed | IdentityProviderNotConfigured>
    /** Ends the sign-ins of an application; access tokens that it has end by themselves, after minutes. */
    readonly endConsent: (
      subject: string,
      clientId: string
    ) => Effect.Effect<void, IdentityProviderFailed | IdentityProviderNotConfigured>
    /** Deletes a client; without the provider's id it is looked for by its own. */
    readonly deleteClient: (
      clientId: ClientId,
      id: InternalId | null
    ) => Effect.Effect<void, IdentityProviderFailed | IdentityProviderNotConfigured>
  }
>()("server/identity/RealmAdmin") {
  static readonly make = Effect.gen(function* () {
    const { identityProviderUrl, oidcAccessAudience, oidcRealm, ...settings } = yield* Settings
    const { administrator, administratorPassword, adminClientId, adminClientSecret } = settings
    const login =
      adminClientId !== undefined && adminClientSecret !== undefined
        ? asClient(oidcRealm, adminClientId, adminClientSecret)
        : administrator !== undefined && administratorPassword !== undefined
          ? asAdministrator(administrator, administratorPassword)
          : undefined
    const connection =
      identityProviderUrl === undefined || login === undefined
        ? undefined
        : connect(yield* HttpClient.HttpClient, {
            base: identityProviderUrl.href.replace(/\/+$/u, ""),
            realm: oidcRealm,
            login,
            audience: oidcAccessAudience
          })
    const connected = Effect.suspend(() =>
      connection === undefined ? Effect.fail(new IdentityProviderNotConfigured()) : Effect.succeed(connection)
    )

    return {
      configured: Effect.asVoid(connected),
      createClient: (clientId: ClientId, name: string) =>
        Effect.flatMap(connected, (realm) => failed("createClient")(realm.createClient(clientId, name))),
      secret: (id: InternalId) => Effect.flatMap(connected, (realm) => failed("secret")(realm.secret(id))),
      rotateSecret: (id: InternalId) =>
        Effect.flatMap(connected, (realm) => failed("rotateSecret")(realm.rotateSecret(id))),
      consents: (subject: string) => Effect.flatMap(connected, (realm) => failed("consents")(realm.consents(subject))),
      endConsent: (subject: string, clientId: string) =>
        Effect.asVoid(Effect.flatMap(connected, (realm) => failed("endConsent")(realm.endConsent(subject, clientId)))),
      deleteClient: (clientId: ClientId, id: InternalId | null) =>
        Effect.flatMap(connected, (realm) => failed("deleteClient")(realm.deleteClient(clientId, id)))
    }
  })

  static readonly layer = Layer.effect(RealmAdmin, RealmAdmin.make).pipe(Layer.provide([OutgoingHttp.layer]))
}
