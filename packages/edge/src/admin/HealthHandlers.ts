/** Liveness over the admin API, without a token. */
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { EdgeUnhealthy } from "@catenet/domain/edges/EdgeErrors"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ListenerHealth } from "../listen/ListenerHealth.ts"

export const HealthHandlers = HttpApiBuilder.group(
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
