/** Handlers of the `edges` group: what edge servers ask and tell. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ChannelAdmissions } from "../channels/ChannelAdmissions.ts"
import { Edges } from "./Edges.ts"

export const layer = HttpApiBuilder.group(
  ControlPlaneApi,
  "edges",
  Effect.fnUntraced(function* (handlers) {
    const edges = yield* Edges
    const admissions = yield* ChannelAdmissions
    return handlers.handleAll({
      authorizeChannel: ({ payload }) => admissions.authorise(payload),
      revokedTokens: () => Effect.map(edges.revokedTokens, (tokens) => ({ tokens })),
      heartbeat: ({ payload }) => edges.heartbeat(payload),
      lookup: ({ query }) => edges.lookup(query),
      rehydrate: ({ params }) => edges.rehydrate(params.edge_id),
      rebind: ({ params }) => edges.rebind(params.id)
    })
  })
)
