/**
 * `GET /metrics`, for callers that send `CT_CP_METRICS_TOKEN` as a bearer token. Without that setting there is no such
 * page: a caller from this machine may be a proxy with a request of the public, so an address is no proof.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { MetricsTokenRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import type { ExtraRoutes } from "../http/AllowedMethods.ts"
import { Settings } from "../settings/Settings.ts"
import { Metrics } from "./Metrics.ts"

export const addresses: ExtraRoutes = [["GET", "/metrics"]]

const refused = Effect.map(
  HttpServerRespondable.toResponse(new MetricsTokenRefused()),
  HttpServerResponse.setHeader("www-authenticate", "Bearer")
)

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { metricsToken } = yield* Settings
    const metrics = yield* Metrics
    const page = Effect.map(metrics.page, (text) =>
      HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
    )
    if (metricsToken === undefined)
      return yield* router.add("GET", "/metrics", HttpServerRespondable.toResponse(new RouteNotFound()))
    const wanted = Bytes.fromText(`Bearer ${Redacted.value(metricsToken)}`)
    yield* router.add(
      "GET",
      "/metrics",
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        ConstantTime.equal(Bytes.fromText(headers["authorization"] ?? ""), wanted) ? page : refused
      )
    )
  })
)
