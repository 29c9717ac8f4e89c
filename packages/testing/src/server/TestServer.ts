/** The whole control plane on a random port, over a database of its own, and clients that talk to it over HTTP. */
import { AccountAccess, AdminAccess, BearerAccess, SessionAccess } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as Server from "@catenet/server/internal/Server"
import { Settings } from "@catenet/server/internal/settings/Settings"
import { ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpServer } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Sealing } from "../../../server/src/store/Sealing.ts"
import * as LoggedErrors from "./LoggedErrors.ts"
import { TestDatabase } from "./TestDatabase.ts"

export const adminToken = "ad".repeat(32)
export const sealKey = "5e".repeat(32)

type Variables = Readonly<Record<string, string>>

/** One replica over the database of the file. */
export const replica = (variables: Variables = {}) =>
  Layer.fresh(
    Layer.unwrap(
      Effect.map(TestDatabase, ({ serverUrl: url }) => {
        const settings = Settings.layer.pipe(
          Layer.provide(
            ConfigProvider.layer(
              ConfigProvider.fromUnknown({
                CT_CONTROL_PLANE_LISTEN: "127.0.0.1:0",
                CT_CP_DATABASE_URL: Redacted.value(url),
                CT_CP_DATABASE_POOL: "4",
                CT_CP_EDGE_ADMIN_TOKEN: adminToken,
                CT_CP_SEAL_KEY: sealKey,
                CT_CP_REQUESTS_PER_MIN: "0",
                CT_CP_SHUTDOWN_GRACE_SECS: "1",
                // No name server answers there; a test that wants DNS brings its own.
                CT_CP_DNS_RESOLVERS: "127.0.0.1:9",
                ...variables
              })
            )
          )
        )
        return Server.layer.pipe(Layer.provide(settings))
      })
    )
  ).pipe(Layer.provide(LoggedErrors.layer))

/** The sealing of every replica, for services that a test uses beside them. */
export const sealing = Sealing.layerOf(Redacted.make(new Uint8Array(32).fill(0x5e)))

/** A replica with its database. */
export const layer = (variables: Variables = {}) => replica(variables).pipe(Layer.provideMerge(TestDatabase.layer))

/** Where the replica answers. */
export const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) =>
  "port" in address ? `http://127.0.0.1:${address.port}` : ""
)

/** What a client carries besides the admin token. */
export interface Credentials {
  readonly bearer?: string
  readonly session?: string
  readonly origin?: string
}

const carrying = ({ bearer, origin, session }: Credentials) =>
  HttpClientRequest.setHeaders({
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(session === undefined ? {} : { cookie: `__Host-ct_portal_session=${session}` }),
    ...(origin === undefined ? {} : { origin })
  })

/** Whom a client speaks to, and as whom. */
const Caller = Context.Reference<{ readonly url: string; readonly credentials: Credentials }>(
  "test/TestServer/Caller",
  {
    defaultValue: () => ({ url: "", credentials: {} })
  }
)

const carried = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(Caller, ({ credentials }) => carrying(credentials)(request))

/** Made once in a process: its hundreds of endpoints were a sixteenth of the processor time of the server's tests. */
const anyones = Effect.runSync(
  Effect.cached(
    HttpApiClient.make(ControlPlaneApi, {
      transformClient: HttpClient.mapRequestEffect((request) =>
        Effect.map(Caller, ({ url }) => HttpClientRequest.prependUrl(request, url))
      )
    }).pipe(
      Effect.provide([
        FetchHttpClient.layer,
        HttpApiMiddleware.layerClient(BearerAccess, ({ next, request }) => Effect.flatMap(carried(request), next)),
        HttpApiMiddleware.layerClient(SessionAccess, ({ next, request }) => Effect.flatMap(carried(request), next)),
        HttpApiMiddleware.layerClient(AccountAccess, ({ next, request }) => Effect.flatMap(carried(request), next)),
        HttpApiMiddleware.layerClient(AdminAccess, ({ next, request }) =>
          next(HttpClientRequest.setHeader(request, "x-ct-admin-token", adminToken))
        )
      ])
    )
  )
)

type Endpoint = (request: unknown) => Effect.Effect<unknown>

/** A typed client with credentials. */
export const clientAs = Effect.fnUntraced(function* (credentials: Credentials) {
  const caller = { url: yield* baseUrl, credentials }
  const anyone = yield* anyones
  const own = (endpoint: Endpoint) => (request: unknown) => Effect.provideService(endpoint(request), Caller, caller)
  const groups = Object.entries(anyone).map(([name, group]) => [
    name,
    Object.fromEntries(Object.entries(group).map(([each, endpoint]) => [each, own(endpoint as Endpoint)]))
  ])
  return Object.fromEntries(groups) as typeof anyone
})

/** A typed client that holds the admin token and nothing else. */
export const client = clientAs({})

/** A plain request, for what a typed client would not send. */
export const raw = (path: string, init: RequestInit = {}) =>
  Effect.flatMap(baseUrl, (url) => Effect.promise(() => fetch(url + path, { redirect: "manual", ...init })))
