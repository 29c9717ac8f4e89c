/** Handlers of the `pipelines` group. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Handlers from "../http/Handlers.ts"
import { Pipelines } from "../agents/Pipelines.ts"

export const layer = Handlers.layer(
  Effect.gen(function* () {
    const pipelines = yield* Pipelines
    return HttpApiBuilder.group(ControlPlaneApi, "pipelines", (handlers) =>
      handlers.handleAll({
        publish: ({ payload }) => Caller.use((caller) => pipelines.publish(caller, payload.spec)),
        listOwn: ({ query }) => Caller.use(({ subject }) => pipelines.list(query, subject)),
        withdraw: ({ params }) => Caller.use((caller) => pipelines.withdraw(caller, params.id)),
        publishFor: ({ payload }) => pipelines.publishFor(payload.owner, payload.spec),
        list: ({ query }) => pipelines.list(query),
        get: ({ params }) => pipelines.get(params.id)
      })
    )
  })
)
