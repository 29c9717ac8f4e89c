/**
 * Clients of the identity provider's realm, through its admin REST, which is Keycloak's. Every call may be repeated: a
 * client that is there already is found, one that is gone already is gone. Secrets pass through and are not kept.
 */
import type { ClientId } from "@catenet/domain/identity/ServiceAccount"
import { IdentityProviderFailed, IdentityProviderNotConfigured } from "@catenet/domain/identity/ServiceAccountErrors"
import { ClientSecret } from "@catenet/domain/values/Tokens"
import { Context, Data, Effect, Layer, type Redacted, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"
import * as AdminToken from "./AdminToken.ts"
import { representation } from "./RealmRepresentation.ts"

/** The provider's own id of a client, by which its admin REST addresses it. */
export const InternalId = Schema.String.check(Schema.isPattern(/^[\w.-]{1,255}$/u)).pipe(Schema.brand("InternalId"))
export type InternalId = typeof InternalId.Type

const Secret = Schema.Struct({ value: ClientSecret })
const Found = Schema.Array(Schema.Struct({ id: InternalId, clientId: Schema.String }))

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
        Effect.logWarning("The identity provider did not carry out a call.", { call, why: reasonOf(error) })
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
  readonly login: AdminToken.Login
  readonly audience: string | undefined
}

const connect = (client: HttpClient.HttpClient, { audience, base, login, realm }: Access) => {
  const tokens = AdminToken.make(client, base, login)
  const clients = `${base}/admin/realms/${encodeURIComponent(realm)}/clients`

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
        ? AdminToken.asClient(oidcRealm, adminClientId, adminClientSecret)
        : administrator !== undefined && administratorPassword !== undefined
          ? AdminToken.asAdministrator(administrator, administratorPassword)
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
      deleteClient: (clientId: ClientId, id: InternalId | null) =>
        Effect.flatMap(connected, (realm) => failed("deleteClient")(realm.deleteClient(clientId, id)))
    }
  })

  static readonly layerNoDeps = Layer.effect(RealmAdmin, RealmAdmin.make)
  static readonly layer = RealmAdmin.layerNoDeps.pipe(Layer.provide([OutgoingHttp.layer]))
}
