/** The admin API of the edge as routes: handlers, token check, and how unreadable requests are refused. */
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { ReadsEdgeBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { Layer, type Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Access from "./AdminTokenCheck.ts"
import { FactsHandlers } from "./FactsHandlers.ts"
import { HealthHandlers } from "./HealthHandlers.ts"
import { OrdersHandlers } from "./OrdersHandlers.ts"

export const routes = (token: Redacted.Redacted) =>
  HttpApiBuilder.layer(EdgeAdminApi).pipe(
    Layer.provide([OrdersHandlers, FactsHandlers, HealthHandlers]),
    Layer.provide([Access.layer(token), ReadsParameters.layer, ReadsEdgeBody.layer])
  )
