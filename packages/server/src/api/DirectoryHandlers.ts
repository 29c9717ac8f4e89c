/** Handlers of the agent directory and the pipeline registry. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Directory } from "../agents/Directory.ts"
import { Pipelines } from "../agents/Pipelines.ts"
import { RendezvousRecords } from "../agents/RendezvousRecords.ts"

/** Handlers of the `pipelines` group. */
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

export const DirectoryHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "directory",
  Effect.fn(function* (handlers) {
    const directory = yield* Directory
    const rendezvous = yield* RendezvousRecords
    return handlers.handleAll({
      register: ({ payload }) => directory.register(payload),
      enlist: ({ payload }) => Caller.use((caller) => directory.enlist(caller, payload)),
      listOwn: ({ query }) => Caller.use((caller) => directory.listOwn(caller, query)),
      unlist: ({ params }) => Caller.use((caller) => directory.unlist(caller, params.holder)),
      search: ({ query }) => directory.search(query),
      get: ({ params }) => directory.get(params.holder),
      registerRendezvous: ({ payload: { token, ...record } }) => rendezvous.leave(token, record),
      resolveRendezvous: ({ params }) => rendezvous.resolve(params.token)
    })
  })
)
