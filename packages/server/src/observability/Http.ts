/**
 * `GET /metrics`. Open like `/status`, unless `CT_CP_METRICS_TOKEN` is set: then Prometheus sends it as a bearer token,
 * and nobody else reads the page.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { MetricsTokenRefused } from "@catenet/domain/errors/Authentication"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import type { Extra } from "../http/Routes.ts"
import { Settings } from "../Settings.ts"
import * as Exposition from "./Exposition.ts"
import { Metrics } from "./Metrics.ts"

export const addresses: Extra = [["GET", "/metrics"]]

const refused = Effect.map(
  HttpServerRespondable.toResponse(new MetricsTokenRefused()),
  HttpServerResponse.setHeader("www-authenticate", "Bearer")
)

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { metricsToken } = yield* Settings
    const metrics = yield* Metrics
    const page = Effect.map(metrics.page, (text) =>
      HttpServerResponse.text(text, { contentType: Exposition.contentType })
    )
    const wanted = metricsToken === undefined ? undefined : Bytes.fromText(`Bearer ${Redacted.value(metricsToken)}`)
    yield* router.add(
      "GET",
      "/metrics",
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        wanted === undefined || ConstantTime.equal(Bytes.fromText(headers["authorization"] ?? ""), wanted)
          ? page
          : refused
      )
    )
  })
)
