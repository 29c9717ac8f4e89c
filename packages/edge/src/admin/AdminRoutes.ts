/** The admin API of the edge as routes: handlers, token check, and how unreadable requests are refused. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { Administrator, EdgeAdminAccess } from "@catenet/domain/api/Access"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { ReadsEdgeBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { EdgeUnhealthy } from "@catenet/domain/edges/EdgeErrors"
import { AdminTokenRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { Effect, Layer, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import { FactsHandlers } from "./FactsHandlers.ts"
import { OrdersHandlers } from "./OrdersHandlers.ts"

/** Liveness over the admin API, without a token. */
const HealthHandlers = HttpApiBuilder.group(
  EdgeAdminApi,
  "health",
  Effect.fn(function* (handlers) {
    const health = yield* ListenerHealth
    return handlers.handle("live", () =>
      Effect.flatMap(health.stalled, (stalled) =>
        stalled.length === 0 ? Effect.void : Effect.fail(new EdgeUnhealthy({ stalled }))
      )
    )
  })
)

// The admin token at the edge, compared in constant time.

/** Admits callers that present `token` (64 hex). */
const adminTokenCheckLayer = (token: Redacted.Redacted) => {
  const expected = Redacted.make(new Uint8Array(Buffer.from(Redacted.value(token), "hex")))
  return Layer.succeed(EdgeAdminAccess, {
    admin: (httpEffect, { credential }) =>
      AdminHeader.matches(expected, Redacted.value(credential))
        ? Effect.provideService(httpEffect, Administrator, { means: "admin-token" })
        : Effect.fail(new AdminTokenRefused({}))
  })
}

export const routes = (token: Redacted.Redacted) =>
  HttpApiBuilder.layer(EdgeAdminApi).pipe(
    Layer.provide([OrdersHandlers, FactsHandlers, HealthHandlers]),
    Layer.provide([adminTokenCheckLayer(token), ReadsParameters.layer, ReadsEdgeBody.layer])
  )
