/** `/metrics` and `/healthz` on the metrics address, without a token. */
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import { render, type Sources } from "./EdgeMetrics.ts"

export const routes = (sources: Sources) =>
  HttpRouter.use(
    Effect.fn(function* (router) {
      const health = yield* ListenerHealth
      yield* router.add(
        "GET",
        "/metrics",
        Effect.sync(() => HttpServerResponse.text(render(sources), { contentType: "text/plain; version=0.0.4" }))
      )
      yield* router.add(
        "GET",
        "/healthz",
        Effect.map(health.stalled, (stalled) => {
          if (health.isLeaving()) return HttpServerResponse.text("stopping\n", { status: 503 })
          if (health.isRestoring()) return HttpServerResponse.text("restoring\n", { status: 503 })
          return stalled.length === 0
            ? HttpServerResponse.text("ok\n")
            : HttpServerResponse.text(`not accepting: ${stalled.join(", ")}\n`, { status: 503 })
        })
      )
    })
  )
