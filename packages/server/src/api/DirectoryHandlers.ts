/** Handlers of the `directory` group. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Directory } from "../agents/Directory.ts"
import { RendezvousRecords } from "../agents/RendezvousRecords.ts"

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
