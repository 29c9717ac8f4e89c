/** Clients of edges' admin interfaces, which carry the admin token; none where the token is not configured. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { EdgeAdminAccess } from "@catenet/domain/api/Access"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Settings } from "../settings/Settings.ts"
import * as LegacyTokenPaths from "./LegacyTokenPaths.ts"

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
  const clients = new Map<string, EdgeClient>()
  const clientAt = Effect.fnUntraced(function* (url: string) {
    const known = clients.get(url)
    if (known !== undefined) return known
    const { client: either, isByPath } = LegacyTokenPaths.make(http)
    const typed = yield* HttpApiClient.make(EdgeAdminApi, { baseUrl: url }).pipe(
      Effect.provide(access),
      Effect.provideService(HttpClient.HttpClient, either)
    )
    const client: EdgeClient = { ...typed, isByPath }
    if (clients.size >= most) clients.clear()
    clients.set(url, client)
    return client
  })
  return Option.some(clientAt)
})
