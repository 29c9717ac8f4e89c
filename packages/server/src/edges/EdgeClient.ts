/** Clients of edges' admin interfaces, which carry the admin token; none where the token is not configured. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { EdgeAdminAccess } from "@catenet/domain/api/Access"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Effect, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Settings } from "../settings/Settings.ts"

/**
 * Edges of the reference kind take the token of a tunnel in the path alone. One that answers 404 to the header form is asked by
 * the path once; where that works it is remembered, and asked so from then on.
 */
const tokenHeader = "x-ct-routing-token"

const ends: ReadonlyArray<readonly [RegExp, (token: string) => string]> = [
  [/\/admin\/authorize-host\/([^/?#]+)$/u, (token) => `/admin/authorize-host/${token}/$1`],
  [/\/admin\/(revoke|tunnel-status)$/u, (token) => `/admin/$1/${token}`],
  [/\/internal\/tunnel\/(history|receipts)$/u, (token) => `/internal/tunnel/$1/${token}`]
]

/** The same request with the token in its path; nothing where there is no such form. */
const pathFormOf = (request: HttpClientRequest.HttpClientRequest) => {
  const token = request.headers[tokenHeader]
  const end = ends.find(([pattern]) => pattern.test(request.url))
  if (token === undefined || end === undefined) return
  const [pattern, path] = end
  return request.pipe(
    HttpClientRequest.setUrl(request.url.replace(pattern, path(token))),
    HttpClientRequest.removeHeader(tokenHeader)
  )
}

/** Our own edge knows the route, and says so by a problem: it keeps no history, or no receipts. */
const isOfRoute = ({ headers }: HttpClientResponse.HttpClientResponse) =>
  headers["content-type"]?.startsWith("application/problem+json") === true

/** The client of one edge, and whether it is asked by the path. */
const makeLegacyTokenPaths = (http: HttpClient.HttpClient) => {
  let byPath = false
  const client = HttpClient.makeWith(
    Effect.flatMap((request: HttpClientRequest.HttpClientRequest) => {
      const other = pathFormOf(request)
      if (other === undefined) return http.execute(request)
      const asked = http.execute(byPath ? other : request)
      return Effect.flatMap(asked, (response) => {
        if (response.status !== 404 || isOfRoute(response)) return Effect.succeed(response)
        if (byPath) {
          // It may have become another edge.
          byPath = false
          return Effect.succeed(response)
        }
        return Effect.tap(http.execute(other), ({ status }) =>
          Effect.sync(() => {
            byPath = status !== 404
          })
        )
      })
    }),
    (request: HttpClientRequest.HttpClientRequest) => Effect.succeed(request)
  )
  return { client, isByPath: () => byPath }
}

export interface EdgeClient extends HttpApiClient.ForApi<typeof EdgeAdminApi> {
  /** Whether it is an edge of the reference kind, as far as it was asked. */
  readonly isByPath: () => boolean
}

/** Clients that are kept. Edges are few; addresses that are no longer used must not add up. */
const most = 256

/** Names a tunnel in a header, which unlike a path no proxy writes down. */
export const about = (token: RoutingToken) => ({ "x-ct-routing-token": token })

/** The client of an edge by the address of its admin interface; made once for each. */
export const make = Effect.gen(function* () {
  const { adminToken } = yield* Settings
  if (adminToken === undefined) return Option.none<(url: string) => Effect.Effect<EdgeClient>>()
  const http = yield* HttpClient.HttpClient
  const header = AdminHeader.value(adminToken)
  const access = HttpApiMiddleware.layerClient(EdgeAdminAccess, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, AdminHeader.name, Redacted.value(header)))
  )
  const clients = new BoundedMap<string, EdgeClient>(most)
  const clientAt = Effect.fnUntraced(function* (url: string) {
    const known = clients.get(url)
    if (known !== undefined) return known
    const { client: either, isByPath } = makeLegacyTokenPaths(http)
    const typed = yield* HttpApiClient.make(EdgeAdminApi, { baseUrl: url }).pipe(
      Effect.provide(access),
      Effect.provideService(HttpClient.HttpClient, either)
    )
    const client: EdgeClient = { ...typed, isByPath }
    clients.set(url, client)
    return client
  })
  return Option.some(clientAt)
})
