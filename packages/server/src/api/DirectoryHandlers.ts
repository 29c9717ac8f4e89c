/** Handlers of the `directory` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Handlers from "../http/Handlers.ts"
import { Directory } from "../agents/Directory.ts"
import { Rendezvous } from "../agents/Rendezvous.ts"

export const layer = Handlers.layer(
  Effect.gen(function* () {
    const directory = yield* Directory
    const rendezvous = yield* Rendezvous
    return HttpApiBuilder.group(ControlPlaneApi, "directory", (handlers) =>
      handlers.handleAll({
        register: ({ payload }) => directory.register(payload),
        search: ({ query }) => directory.search(query),
        get: ({ params }) => directory.get(params.holder),
        registerRendezvous: ({ payload: { token, ...record } }) => rendezvous.leave(token, record),
        resolveRendezvous: ({ params }) => rendezvous.resolve(params.token)
      })
    )
  })
)
