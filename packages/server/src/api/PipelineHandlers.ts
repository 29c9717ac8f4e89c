/** Handlers of the `pipelines` group. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Pipelines } from "../agents/Pipelines.ts"

export const PipelineHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "pipelines",
  Effect.fn(function* (handlers) {
    const pipelines = yield* Pipelines
    return handlers.handleAll({
      publish: ({ payload }) => Caller.use((caller) => pipelines.publish(caller, payload.spec)),
      listOwn: ({ query }) => Caller.use(({ subject }) => pipelines.list(query, subject)),
      withdraw: ({ params }) => Caller.use((caller) => pipelines.withdraw(caller, params.id)),
      publishFor: ({ payload }) => pipelines.publishFor(payload.owner, payload.spec),
      list: ({ query }) => pipelines.list(query),
      get: ({ params }) => pipelines.get(params.id)
    })
  })
)
