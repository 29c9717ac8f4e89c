/** A client of the edge's admin interface, which carries the admin token; none where no edge is configured. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { EdgeAdminAccess } from "@catenet/domain/api/Access"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import type { RoutingToken } from "@catenet/domain/Tokens"
import { Effect, Option, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Settings } from "../Settings.ts"

export type EdgeClient = HttpApiClient.ForApi<typeof EdgeAdminApi>

/** Names a tunnel in a header, which unlike a path no proxy writes down. */
export const about = (token: RoutingToken) => ({ "x-ct-routing-token": token })

export const make = Effect.gen(function* () {
  const { adminToken, edgeAdminUrl } = yield* Settings
  if (adminToken === undefined || edgeAdminUrl === undefined) return Option.none<EdgeClient>()
  const header = AdminHeader.value(adminToken)
  const client = yield* HttpApiClient.make(EdgeAdminApi, { baseUrl: edgeAdminUrl }).pipe(
    Effect.provide(
      HttpApiMiddleware.layerClient(EdgeAdminAccess, ({ next, request }) =>
        next(HttpClientRequest.setHeader(request, AdminHeader.name, Redacted.value(header)))
      )
    )
  )
  return Option.some(client)
})
